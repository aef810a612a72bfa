"""Signatures of attacks written in English, for folded text: half width, lower case."""

from __future__ import annotations

from agents.screening.types import Reason, Signature, signature

_DROP = (
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overlook|bypass|override|overrule|discard|drop|"
    r"erase|delete|wipe|cancel|neglect|skip|"
    r"set aside|throw (?:away|out)|stop (?:following|obeying)|(?:do not|don't|no longer|never)"
    r" (?:follow|obey|listen to|adhere to|abide by|comply with)|"
    r"pay no attention to|break free (?:from|of))\b"
)
_COMMANDS = (
    r"\b(?:instructions?|directions?|directives?|prompts?|rules?|guidelines?|guidance|commands?|"
    r"orders|constraints?|restrictions|programming|"
    r"polic(?:y|ies)|safeguards|guard ?rails|filters?|training|context|inputs?)\b"
)
_PERSONA = (
    r"\b(?:act(?:ing|s)? (?:as|like|out)|pretend(?:ing|s)?|role-?play\w*|simulat(?:e|es|ing|ion)|"
    r"imagine|emulate|impersonate|personify|behave (?:as|like)|"
    r"speak (?:as|like)|respond as|reply as|answer as|respond like|talk (?:as|like)|"
    r"take on the (?:role|persona)|play the (?:role|part)|"
    r"you(?:'re| are| will be| shall be| become| must be)(?: now| going to be| to be| being|"
    r" no longer| not| an?| the)|"
    r"your (?:new )?(?:name|role|persona|character|identity)(?: is| will)|from (?:now on|"
    r"this (?:point|moment))|stay in character|in character|"
    r"i want you to|enter\w* [^.!?\n]{0,20}mode|enable\w* [^.!?\n]{0,20}mode|in [^.!?\n]{0,16} mode|hypothetical|"
    r"fictional|two (?:responses|answers|ways|personalities)|persona)\b"
)
_UNBOUND = (
    r"(?:\b(?:no|without(?: any)?|free (?:of|from)|not bound by|unbound by|ignores?|breaks?|"
    r"bypass\w*|regardless of|doesn'?t (?:care|follow|have|need|worry)|"
    r"don'?t (?:care|have|need|worry)|does not (?:care|follow|have)|do not (?:care|have)|"
    r"never (?:refuse|say no|decline|warn)s?|lacks?|devoid of|rid of|"
    r"freed from|broken free|removed?|disabled?)\b[^.!?\n]{0,40}\b(?:restrictions?|limit(?:s|ations?)?|"
    r"rules|filters?|morals?|morality|ethics?|ethical|guidelines?|"
    r"censor(?:s|ship|ed)?|polic(?:y|ies)|boundar(?:y|ies)|laws?|consequences|constraints|"
    r"principles|confines|warnings?|decency)\b|"
    r"\b(?:unrestricted|uncensored|unfiltered|unbiased and|amoral|immoral|unethical|jailbr(?:eak|"
    r"oken)\w*|do anything now|anything goes|dan|"
    r"evil|malicious|god mode|sudo mode|cannot refuse|can'?t refuse|never refuse|"
    r"not refuse|opposite of chatgpt|no moral)\b)"
)
_SECRET = (
    r"(?:\bsystem ?(?:prompt|message|instructions?)(?! (?:says|said|appear|pop|show))\b|\byour (?:(?:full|"
    r"entire|exact|complete|whole|own|"
    r"actual|current|real|base|custom|very|first|initial|original|hidden|secret|internal|system|developer|"
    r"starting|opening) )*"
    r"(?:prompt|instructions|directives|preamble|programming)\b(?! (?:for|on|about|to|how|booklet|manual))|"
    r"\b(?:initial|starting|hidden|secret|internal|developer|opening|preloaded) (?:\w+ )?(?:prompt|"
    r"instructions?|directives|rules)\b|"
    r"\b(?:the|those|these|every|all)? ?(?:text|words|content|messages?|instructions?|conversation|"
    r"everything) (?:\w+ ){0,4}"
    r"(?:you (?:were|have been|got|received)|above (?:this|my|and)|before (?:this|my)|prior to this|"
    r"at the (?:start|beginning) of (?:this|the|our) "
    r"(?:chat|conversation|session|context))|\b(?:everything|all (?:the )?(?:text|words|content)) above\b)"
)
_TELL = (
    r"\b(?:show|print|output|reveal|display|repeat|recite|tell me|list|share|leak|dump|echo|copy|paste|"
    r"summari[sz]e|translate|"
    r"encode|paraphrase|reproduce|disclose|expose|spell|what (?:is|are|was|were)|describe|quote|convert|"
    r"rephrase|restate|give me)\b"
)

ENGLISH: tuple[Signature, ...] = (
    signature(
        "override_en",
        Reason.OVERRIDE,
        True,
        rf"{_DROP}[^.!?\n]{{0,24}}\b(?:previous|prior|above|earlier|preceding|all|any|every|your|the system|"
        rf"original|initial|existing|other|former|past|before|safety|openai|these|those)"
        rf"\b[^.!?\n]{{0,30}}{_COMMANDS}",
    ),
    signature(
        "override_all_en",
        Reason.OVERRIDE,
        True,
        r"\b(?:ignore|disregard|forget)\b[^.!?\n]{0,12}\b(?:everything|anything|all)\b[^.!?\n]{0,24}\b(?:above|"
        r"before|previous(?:ly)?|prior|said|told|know|so far|learned|earlier)\b",
    ),
    signature(
        "override_loose_en",
        Reason.OVERRIDE,
        False,
        rf"{_DROP}[^.!?\n]{{0,40}}(?:{_COMMANDS}|\b(?:above|everything|previous)\b)",
    ),
    signature(
        "new_orders_en",
        Reason.OVERRIDE,
        False,
        r"\b(?:new (?:instructions?|rules?|task|directive|objective|role)|instead,? (?:say|print|"
        r"write|output|tell|respond|do)|top priority|overrides? (?:all|any))\b",
    ),
    signature(
        "extraction_en", Reason.EXTRACTION, True, rf"{_TELL}[^.!?\n]{{0,60}}{_SECRET}|{_SECRET}[^.!?\n]{{0,30}}{_TELL}"
    ),
    signature(
        "extraction_rules_en",
        Reason.EXTRACTION,
        True,
        r"\bwhat (?:are|were|have) you (?:been )?(?:not |never )?(?:supposed|allowed|told|instructed|"
        r"given|programmed|forbidden|asked)\b[^.!?\n]{0,30}\b(?:tell|say|do|reveal|share|hide|discuss|"
        r"beginning|initially|start|before|first|to)\b",
    ),
    signature(
        "persona_en",
        Reason.PERSONA,
        True,
        _PERSONA,
        _UNBOUND,
        r"\b(?:you|your|ai|chat ?gpt|gpt|bot|assistant|model)\b",
    ),
    signature(
        "persona_loose_en",
        Reason.PERSONA,
        False,
        r"\b(?:i want you to (?:act|be|pretend|play|role|respond|answer|write|speak|imagine|simulate|"
        r"create)|(?:act|respond|answer|reply|speak|talk|behave|function|serve|operate|writing?)"
        r" (?:only )?(?:as|like) (?:an?|the|if|my|both|you|\[|\w+gpt)|you are (?:now|going to|"
        r"an? (?:expert|ai|experienced|world|highly|professional|language|unfiltered|fictional|"
        r"character|master|chatbot|large))|pretend (?:to be|you|that)|role-?play\w*|from now on|"
        r"stay in character|your (?:task|job|role|goal|purpose) is|simulate an?|my first (?:question|"
        r"request|prompt|command|message)|imagine (?:you|that|a)|in the (?:style|voice|tone|"
        r"skillful style) of|this (?:conversation|chat|session|prompt|game)|as an ai|as chat ?gpt|"
        r"respond(?:ing)? (?:with|in|to)|you (?:will|must|should|shall|can) (?:always|never|only|not|"
        r"now|respond|answer|reply|provide|act|ask|write|speak|be|also|then|use|start|generate|create|"
        r"do))\b",
    ),
    signature("unbound_en", Reason.PERSONA, False, _UNBOUND),
    signature(
        "model_en",
        Reason.PERSONA,
        False,
        r"\b(?:chat ?gpt|openai|gpt-?\d?|\w{2,12}gpt|language model|ai (?:model|assistant|language|"
        r"chatbot)|prompts?|llms?|claude|gemini|bard)\b",
    ),
    signature(
        "steering_en",
        Reason.STEERING,
        True,
        r"\b(?:start|begin|preface|open|prefix|starting|beginning)\b[^.!?\n]{0,30}\b(?:your|the|every|each|"
        r"all)\b[^.!?\n]{0,20}\b(?:answers?|responses?|reply|replies|message|output|sentence)"
        r"\b[^.!?\n]{0,12}\bwith\b|\b(?:start|begin) (?:with|by saying)\b[^.!?\n]{0,6}[\"“'‘](?:sure|of course|"
        r"absolutely|certainly|yes|here)|\b(?:do not|don'?t|never|without|avoid|cannot|can'?t)"
        r"\b[^.!?\n]{0,30}\b(?:say(?:ing)?|us(?:e|ing)|includ(?:e|ing)|start(?:ing)? with|mention(?:ing)?|"
        r"apologi[sz]\w*|respond(?:ing)? with)\b[^.!?\n]{0,20}(?:\b(?:as an ai|disclaimers?|i'?m sorry,? but|"
        r"i cannot|i can'?t (?:assist|help|fulfil)|language model|warnings?|openai)\b)",
    ),
    signature(
        "steering_loose_en",
        Reason.STEERING,
        False,
        r"\b(?:never|not|don'?t|cannot|can'?t|won'?t) (?:refuse|decline|reject|apologi[sz]e|"
        r"break character|warn|censor|deny)\b|\b(?:sure,? here(?:'s| is| are)|of course,? here)\b|"
        r"\bcomplete the (?:sentence|story|text|following)\b|\bcontinue (?:the|this) (?:story|text|"
        r"sentence|dialogue)\b",
    ),
    signature(
        "code_result_en",
        Reason.PAYLOAD,
        True,
        r"\b(?:output|result|value|string|outcome|concatenation)\b[^.!?\n]{0,50}\b(?:as|is|becomes?)"
        r"\b[^.!?\n]{0,20}\b(?:instruction|prompt|question|command|request|task|input|query)\b|\b(?:answer|"
        r"execute|follow|respond to)\b[^.!?\n]{0,30}\b(?:concatenat\w+|combined|decoded|resulting|joined|"
        r"printed)\b[^.!?\n]{0,20}(?:string|text|question|instruction|message|request|prompt|output)?",
    ),
)
