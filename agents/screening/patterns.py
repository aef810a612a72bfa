"""Patterns of messages that give orders to the model instead of asking the company, in Chinese and English.

They are matched against the views of `agents.screening.views`: half width, Simplified, lower case, separators between
letters removed, payloads decoded. A pattern is `certain` when no customer writes it; it rejects alone, without any
model. The others are evidence, which the classifier weighs with everything else: customers too write 不用管上面的问题了
and 别再跟我说抱歉.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a message is not taken. The attack families have certain patterns; `SUSPICIOUS` is the classifier's."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    REPETITION = "repetition"
    OVERRIDE = "override"
    EXTRACTION = "extraction"
    PERSONA = "persona"
    STEERING = "steering"
    PAYLOAD = "payload"
    TRANSCRIPT = "transcript"
    SUSPICIOUS = "suspicious"


@dataclass(frozen=True, slots=True)
class Signature:
    """All parts have to be found, in any order. `name` is unique and stable: heads are fitted on it."""

    name: str
    reason: Reason
    certain: bool
    parts: tuple[re.Pattern[str], ...]

    def found(self, text: str) -> bool:
        return all(part.search(text) for part in self.parts)


def _signature(name: str, reason: Reason, certain: bool, *parts: str) -> Signature:
    return Signature(name, reason, certain, tuple(re.compile(part) for part in parts))


_GAP = r"[^。！？!?\n]"
_DROP = (
    r"(?<!如何)(?<!怎么)(?<!怎样)(?<!是否)(?<!能否)(?<!可以)(?<!如果)(?<!什么)(?<!会)"
    r"(?:忽略|无视|忘(?:记|掉|却)|抛(?:开|弃|掉|下)|丢(?:掉|弃)|舍弃|摒弃|摈弃|撇开|不(?:要|用|必|需要?|许|准|得)再?(?:去)?"
    r"(?:管|理会|理|响应|遵守|遵循|遵从|执行|考虑|参考|顾及|在意|听从|回应)|无[需须](?:再)?(?:理会|响应|遵守|遵循|执行|考虑)"
    r"|别(?:再|去)?(?:管|理会?|遵守|遵循|执行|听)|停止(?:遵守|遵循|执行)|从[^。]{0,6}中?清除|推翻|改写|覆盖(?:掉)?)"
)
_EARLIER = (
    r"(?:以上|上述|上面|上文|前面|前文|前述|之前|先前|此前|早前|原来|原有|原先|原本|刚才|刚刚|一切|所有|全部|任何|系统|开头|初始|"
    r"最初|预设|内置|默认|你(?:的|收到|被|所|现有|受到)|官方|开发者|开发商|给你|我的|这些|那些|现有|当前|其他|其它)"
)
_COMMANDS = (
    r"(?:指令|指示|命令|规则|提示词|提示语|系统提示|设定|限制|约束|准则|守则|指引|规范|禁令|过滤|审查|人设|提示(?!音|框|错|信息|消息)"
    r"|prompts?|instructions?|rules?)"
)
_PERSONA = (
    r"(?:扮演|充当|饰演|假装|假扮|装作|模拟|化身|代入|角色扮演|从现在(?:开始|起)|从此刻起|从今往后|接下来你|你(?:现在|将|将会|要|的身份)"
    r"(?:就)?(?:是|叫|变成|成为|作为|以|化身|处于|进入)|想象(?:你|自己)|设想你|假设你(?:是|叫|不)|假如你(?:是|叫|不)|进入[^。]{0,10}模式"
    r"|以[^。，]{1,14}的(?:身份|口吻|角色|视角)|虚构|剧本|小说|游戏|(?:人工智能|ai|机器人|模型|助手)(?:名叫|叫做|名为))"
)
_UNBOUND = (
    r"(?:(?:没有|不受|无|毫无|摆脱|脱离|挣脱|不(?:必|用|需要?|再|会)?(?:受|遵守|遵循|考虑|顾及|关心|在乎|理会)|突破|绕过|打破|超越|无视|抛开|解除|关闭)"
    r"[^。]{0,12}(?:道德|伦理|法律|审查|限制|约束|束缚|过滤|政策|准则|底线|禁忌|后果|规则|规范|枷锁|安全)|不道德|不受限|不受约束|不设限|百无禁忌"
    r"|(?:不会?|不能|不许|不得|从不|绝不|永不|无法)拒绝|未(?:经|受)?(?:审查|过滤)|无(?:限制|审查|过滤|底线|约束)|越狱"
    r"|(?:什么|任何(?:事情?|问题|请求|要求|内容|东西|话题))(?:你)?(?:都|也)?(?:可以|能|会|必须|要|得)?(?:做|回答|说|满足|生成|提供|照做)"
    r"|(?<![a-z])(?:dan|stan|dude|aim|jailbreak\w*)(?![a-z])|do anything now|开发者模式|上帝模式|调试模式|无限制模式|邪恶)"
)
_MODEL = (
    r"(?:人工智能|语言模型|大模型|聊天机器人|机器人|(?<![a-z])(?:ai|llms?|chat ?gpt|\w{0,12}gpt|chatbot|bot|assistant|claude|gemini|llama|qwen|deepseek)"
    r"(?![a-z])|通义|文心|豆包|智能助手|助手)"
)
_SECRET_ZH = (
    r"(?:系统(?:级)?(?:提示(?:词|语)|指令|prompt|message|设定)|提示词|system ?(?:prompt|message|instructions?)|(?:初始|原始|最初|底层|隐藏|内置|内部|预设|预置|后台)"
    r"(?:的)?(?:指令|提示|设定|规则|配置|prompt|指示|说明)|(?:给|对|让)你(?:的|下达的|设定的|写的)[^。，]{0,4}(?:指令|提示|规则|设定|要求|指示|说明)"
    r"|你(?:的|收到的|所(?:收到|接收|遵循)的?|被(?:给予|设定|赋予|告知)的?|背后的?|(?:最初|一开始|启动时)(?:收到|得到|拿到|读到)的)"
    r"[^。，]{0,8}(?:指令|提示|设定|prompt|人设|系统消息|指示))"
)
_TELL_ZH = (
    r"(?:输出|打印|显示|展示|展现|告诉|告知|说出|说一?说|说明|复述|重复|背诵|背一遍|念|透露|泄露|公开|公布|给我|发给|发我|列出|列一下|翻译|总结|概括|编码"
    r"|写出|写下|写成|抄|原样|原文|逐字|提供|揭示|导出|回显|贴|分享|改写|转换|转成|是什么|是啥|有哪些|哪些|什么内容|怎么写|全文|看看|看一下|看下|查看|交代|解释)"
)
_DROP_EN = (
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overlook|bypass|override|overrule|discard|drop|erase|delete|wipe|cancel|neglect|skip|"
    r"set aside|throw (?:away|out)|stop (?:following|obeying)|(?:do not|don't|no longer|never) (?:follow|obey|listen to|adhere to|abide by|comply with)|"
    r"pay no attention to|break free (?:from|of))\b"
)
_COMMANDS_EN = (
    r"\b(?:instructions?|directions?|directives?|prompts?|rules?|guidelines?|guidance|commands?|orders|constraints?|restrictions|programming|"
    r"polic(?:y|ies)|safeguards|guard ?rails|filters?|training|context|inputs?)\b"
)
_PERSONA_EN = (
    r"\b(?:act(?:ing|s)? (?:as|like|out)|pretend(?:ing|s)?|role-?play\w*|simulat(?:e|es|ing|ion)|imagine|emulate|impersonate|personify|behave (?:as|like)|"
    r"speak (?:as|like)|respond as|reply as|answer as|respond like|talk (?:as|like)|take on the (?:role|persona)|play the (?:role|part)|"
    r"you(?:'re| are| will be| shall be| become| must be)(?: now| going to be| to be| being| no longer| not| an?| the)|"
    r"your (?:new )?(?:name|role|persona|character|identity)(?: is| will)|from (?:now on|this (?:point|moment))|stay in character|in character|"
    r"i want you to|enter\w* .{0,20}mode|enable\w* .{0,20}mode|in .{0,16} mode|hypothetical|fictional|two (?:responses|answers|ways|personalities)|persona)\b"
)
_UNBOUND_EN = (
    r"(?:\b(?:no|without(?: any)?|free (?:of|from)|not bound by|unbound by|ignores?|breaks?|bypass\w*|regardless of|doesn'?t (?:care|follow|have|need|worry)|"
    r"don'?t (?:care|have|need|worry)|does not (?:care|follow|have)|do not (?:care|have)|never (?:refuse|say no|decline|warn)s?|lacks?|devoid of|rid of|"
    r"freed from|broken free|removed?|disabled?)\b.{0,40}\b(?:restrictions?|limit(?:s|ations?)?|rules|filters?|morals?|morality|ethics?|ethical|guidelines?|"
    r"censor(?:s|ship|ed)?|polic(?:y|ies)|boundar(?:y|ies)|laws?|consequences|constraints|principles|confines|warnings?|decency)\b|"
    r"\b(?:unrestricted|uncensored|unfiltered|unbiased and|amoral|immoral|unethical|jailbr(?:eak|oken)\w*|do anything now|anything goes|dan|"
    r"evil|malicious|developer mode|god mode|sudo mode|cannot refuse|can'?t refuse|never refuse|not refuse|opposite of chatgpt|no moral)\b)"
)
_SECRET_EN = (
    r"(?:\bsystem ?(?:prompt|message|instructions?)\b|\b(?:your|the|those|these) (?:\w+ ){0,3}(?:prompt|instructions|directives|guidelines given|preamble)\b|"
    r"\b(?:initial|starting|original|hidden|secret|internal|first|developer|opening|preloaded) (?:\w+ )?(?:prompt|instructions?|message|text|directives|rules|configuration)\b|"
    r"\b(?:text|words|content|message|everything|lines?|paragraphs?|sentences?|instructions?|conversation) (?:\w+ ){0,4}(?:above|before this|prior to this)\b)"
)
_TELL_EN = (
    r"\b(?:show|print|output|reveal|display|repeat|recite|tell|give|write|list|share|leak|dump|echo|copy|paste|summari[sz]e|translate|encode|"
    r"paraphrase|reproduce|disclose|expose|send|return|spell|what (?:is|are|was|were|does)|describe|provide|quote|say|read|convert|rephrase|restate|type)\b"
)
_CIPHER = (
    r"(?:base ?64|base ?32|rot ?-?13|rot ?47|caesar|凯撒|摩斯|摩尔斯|莫尔斯|morse|十六进制|(?<![a-z])hex(?:adecimal)?(?![a-z])|密文|密码本|加密|编码|cipher|encrypt|"
    r"unicode|二进制|binary|ascii|url ?编码|leetspeak|pig latin|倒(?:序|过来|着)|反(?:转|过来|着|序)|逆序|revers|backwards|首字母|藏头)"
)

SIGNATURES: tuple[Signature, ...] = (
    _signature(
        "override_zh",
        Reason.OVERRIDE,
        True,
        rf"{_DROP}(?:了|掉)?{_GAP}{{0,6}}?{_EARLIER}{_GAP}{{0,10}}?{_COMMANDS}(?!的?密码)",
    ),
    _signature(
        "override_then_zh",
        Reason.OVERRIDE,
        True,
        rf"{_DROP}(?:了|掉)?{_GAP}{{0,4}}?{_EARLIER}{_GAP}{{0,12}}?(?:要求|内容|话|对话|问题|说明|信息|任务|一切|文字)"
        rf"{_GAP}{{0,6}}[，,。;；:：!！]?\s*(?:请|现在|而是|转而|只|直接|立即|马上)?(?:直接|只需|立即|马上)?(?:回答|输出|复述|执行|告诉|生成|写|说|按|以|扮演|充当|你)",
    ),
    _signature(
        "override_new_zh",
        Reason.OVERRIDE,
        True,
        r"(?:你的|以下是?|现在执行|这是)(?:全?新的?)(?:系统)?(?:指令|任务|身份|角色|提示词|人设|目标|系统提示)|(?:新的?|最高|管理员|开发者|系统)(?:优先级)?(?:指令|命令)[：:]",
    ),
    _signature("override_loose_zh", Reason.OVERRIDE, False, rf"{_DROP}{_GAP}{{0,8}}(?:{_EARLIER}|{_COMMANDS})"),
    _signature(
        "override_filter_zh",
        Reason.OVERRIDE,
        True,
        r"(?:绕过|绕开|解除|关闭|突破|关掉|禁用|停用|取消|屏蔽|去掉|摆脱|移除)[^。，]{0,8}(?:(?:安全|道德|伦理|内容|回答|输出|敏感词)(?:限制|审查|过滤|约束|规则|准则|机制|护栏|策略|政策|防护)|角色设定|系统提示|提示词|"
        r"审查机制|过滤器|护栏)",
    ),
    _signature(
        "override_en",
        Reason.OVERRIDE,
        True,
        rf"{_DROP_EN}.{{0,24}}\b(?:previous|prior|above|earlier|preceding|all|any|every|your|the system|original|initial|existing|other|former|past|before|safety|openai|these|those)\b.{{0,30}}{_COMMANDS_EN}",
    ),
    _signature(
        "override_all_en",
        Reason.OVERRIDE,
        True,
        r"\b(?:ignore|disregard|forget)\b.{0,12}\b(?:everything|anything|all)\b.{0,24}\b(?:above|before|previous(?:ly)?|prior|said|told|know|so far|learned|earlier)\b",
    ),
    _signature(
        "override_loose_en",
        Reason.OVERRIDE,
        False,
        rf"{_DROP_EN}.{{0,40}}(?:{_COMMANDS_EN}|\b(?:above|everything|previous)\b)",
    ),
    _signature(
        "new_orders_en",
        Reason.OVERRIDE,
        False,
        r"\b(?:new (?:instructions?|rules?|task|directive|objective|role)|instead,? (?:say|print|write|output|tell|respond|do)|top priority|overrides? (?:all|any))\b",
    ),
    _signature(
        "extraction_zh",
        Reason.EXTRACTION,
        True,
        _SECRET_ZH,
        _TELL_ZH,
        rf"{_TELL_ZH}{_GAP}{{0,24}}{_SECRET_ZH}|{_SECRET_ZH}{_GAP}{{0,16}}{_TELL_ZH}",
    ),
    _signature(
        "extraction_above_zh",
        Reason.EXTRACTION,
        True,
        r"(?:重复|复述|翻译|原样输出|逐字|打印|输出|总结|抄写|还原|一字不差)[^。]{0,10}(?:你?(?:上面|以上|上述|前面|之前|这(?:句话|条消息|行)(?:之前|以前|上面|以上|之上)|对话(?:的)?(?:开头|最开始|开始)|第一(?:句|条|行)|开场))"
        r"[^。]{0,12}(?:指令|文字|文本|全部|所有|一切|每(?:个|一个)字|原文|系统|初始|消息|提示)",
    ),
    _signature(
        "extraction_loose_zh",
        Reason.EXTRACTION,
        False,
        rf"{_SECRET_ZH}|(?:不(?:能|许|可以|允许|该|应该)(?:告诉|透露|说)[^。]{{0,6}}(?:什么|哪些)|(?:被|受到)(?:禁止|限制|要求|告知)[^。]{{0,8}}(?:什么|哪些))",
    ),
    _signature(
        "extraction_en", Reason.EXTRACTION, True, rf"{_TELL_EN}.{{0,60}}{_SECRET_EN}|{_SECRET_EN}.{{0,30}}{_TELL_EN}"
    ),
    _signature(
        "extraction_rules_en",
        Reason.EXTRACTION,
        True,
        r"\bwhat (?:are|were|have) you (?:been )?(?:not |never )?(?:supposed|allowed|told|instructed|given|programmed|forbidden|asked)\b.{0,30}\b(?:tell|say|do|reveal|share|hide|discuss|beginning|initially|start|before|first|to)\b",
    ),
    _signature(
        "data_theft",
        Reason.EXTRACTION,
        False,
        r"(?:列出|导出|给我|告诉我|查出|显示|提供|发给我|打印|泄露|dump|list|export|show|give me|reveal)[^。]{0,16}(?:所有|全部|其他|其它|别的|别人|all|other|every)[^。]{0,6}(?:用户|客户|顾客|会员|买家|员工|users?|customers?|clients?|employees?)[^。]{0,12}(?:信息|资料|电话|手机|地址|密码|订单|邮箱|数据|data|emails?|phones?|addresses|passwords?|orders?|records?|details)",
    ),
    _signature("persona_zh", Reason.PERSONA, True, _PERSONA, _UNBOUND, rf"{_MODEL}|角色|你(?:现在|将|必须|要)"),
    _signature(
        "mode_zh",
        Reason.PERSONA,
        True,
        r"(?:进入|启用|启动|开启|切换(?:到|为|至)|激活|打开|处于|以)[^。，]{0,8}(?:开发者|dan|越狱|上帝|无限制|无审查|不受限|调试|debug|developer|jailbreak|god|root|管理员|维护|超级用户|sudo)[^。，]{0,4}(?:模式|mode|权限|身份)",
    ),
    _signature(
        "persona_loose_zh",
        Reason.PERSONA,
        False,
        r"扮演|充当|假装|假扮|角色扮演|从现在(?:开始|起)|你现在(?:是|叫|将|要|必须)|你将(?:是|作为|充当|以|扮演|会)|想象你|假设你(?:是|叫|没|不)|(?:人工智能|ai|gpt)[^。]{0,10}(?:名叫|叫做|名为|叫)|我(?:想|要|希望)(?:让)?你(?:扮演|充当|作为|假装|模拟|成为|以|把自己)|(?:保持|不要(?:脱离|跳出|打破))[^。]{0,3}角色",
    ),
    _signature("unbound_zh", Reason.PERSONA, False, _UNBOUND, _MODEL + r"|你"),
    _signature(
        "persona_en",
        Reason.PERSONA,
        True,
        _PERSONA_EN,
        _UNBOUND_EN,
        r"\b(?:you|your|ai|chat ?gpt|gpt|bot|assistant|model)\b",
    ),
    _signature(
        "jailbreak_words",
        Reason.PERSONA,
        True,
        r"\b(?:do anything now|dan mode|jailbroken|(?:developer|god|dan|jailbreak|sudo) mode (?:enabled|on|activated|output|response)|chatgpt with (?:dan|developer mode)|you (?:can|will|must) do anything)\b|(?:dan|越狱|开发者)模式(?:已?(?:启用|开启|激活)|响应|回应|回复|回答|输出)",
    ),
    _signature(
        "persona_loose_en",
        Reason.PERSONA,
        False,
        r"\b(?:i want you to (?:act|be|pretend|play|role|respond|answer|write|speak|imagine|simulate|create)|(?:act|respond|answer|reply|speak|talk|behave|function|serve|operate|writing?) (?:only )?(?:as|like) (?:an?|the|if|my|both|you|\[|\w+gpt)|you are (?:now|going to|an? (?:expert|ai|experienced|world|highly|professional|language|unfiltered|fictional|character|master|chatbot|large))|pretend (?:to be|you|that)|role-?play\w*|from now on|stay in character|your (?:task|job|role|goal|purpose) is|simulate an?|my first (?:question|request|prompt|command|message)|imagine (?:you|that|a)|in the (?:style|voice|tone|skillful style) of|this (?:conversation|chat|session|prompt|game)|as an ai|as chat ?gpt|respond(?:ing)? (?:with|in|to)|you (?:will|must|should|shall|can) (?:always|never|only|not|now|respond|answer|reply|provide|act|ask|write|speak|be|also|then|use|start|generate|create|do))\b",
    ),
    _signature("unbound_en", Reason.PERSONA, False, _UNBOUND_EN),
    _signature(
        "model_en",
        Reason.PERSONA,
        False,
        r"\b(?:chat ?gpt|openai|gpt-?\d?|\w{2,12}gpt|language model|ai (?:model|assistant|language|chatbot)|prompts?|llms?|claude|gemini|bard)\b",
    ),
    _signature(
        "steering_zh",
        Reason.STEERING,
        True,
        r"(?:以|用|从)\s*[「『“”\"‘'《【]{1,3}[^\n]{1,120}?[」』”“\"’'》】]{1,3}\s*(?:这(?:句话|几个字|句))?(?:作为|为|来|做|当)?(?:回答的?|回复的?|答案的?|你的?)?\s*(?:开始|开头|起头|起始|开场|打头|第一句)",
    ),
    _signature(
        "steering_ai_zh",
        Reason.STEERING,
        True,
        rf"(?:不要|禁止|不许|不能|不得|不可以?|别|请勿|避免|绝不|切勿|永远不要?|从不)[^。]{{0,8}}(?:说|回答|出现|包含|使用|回复|输出|提|拒绝|警告|加)[^。]{{0,10}}(?:作为(?:一个)?{_MODEL}|我是(?:一个)?{_MODEL}|道德|免责声明|警告|伦理|说教)",
    ),
    _signature(
        "steering_loose_zh",
        Reason.STEERING,
        False,
        r"(?:回答|回复|答案|输出|第一句话?|开头)[^。]{0,8}(?:必须|一定|要|请|只能)?(?:以|从|用|写|是)[^。]{0,24}(?:开头|开始|起头)|(?:不要|禁止|不许|不得|不能|请勿|绝不)[^。]{0,6}(?:拒绝|回避|推脱|(?:说|回答|出现|包含|使用|回复|输出)[^。]{0,6}(?:对不起|抱歉|我不能|我无法|无法回答|不能回答|不知道))|(?:续写|补全|接着写|继续写|补充完整)",
    ),
    _signature(
        "steering_en",
        Reason.STEERING,
        True,
        r"\b(?:start|begin|preface|open|prefix|starting|beginning)\b.{0,30}\b(?:your|the|every|each|all)\b.{0,20}\b(?:answers?|responses?|reply|replies|message|output|sentence)\b.{0,12}\bwith\b|\b(?:start|begin) (?:with|by saying)\b.{0,6}[\"“'‘](?:sure|of course|absolutely|certainly|yes|here)|\b(?:do not|don'?t|never|without|avoid|cannot|can'?t)\b.{0,30}\b(?:say(?:ing)?|us(?:e|ing)|includ(?:e|ing)|start(?:ing)? with|mention(?:ing)?|apologi[sz]\w*|respond(?:ing)? with)\b.{0,20}(?:\b(?:as an ai|disclaimers?|i'?m sorry,? but|i cannot|i can'?t (?:assist|help|fulfil)|language model|warnings?|openai)\b)",
    ),
    _signature(
        "steering_loose_en",
        Reason.STEERING,
        False,
        r"\b(?:never|not|don'?t|cannot|can'?t|won'?t) (?:refuse|decline|reject|apologi[sz]e|break character|warn|censor|deny)\b|\b(?:sure,? here(?:'s| is| are)|of course,? here)\b|\bcomplete the (?:sentence|story|text|following)\b|\bcontinue (?:the|this) (?:story|text|sentence|dialogue)\b",
    ),
    _signature(
        "code_result_zh",
        Reason.PAYLOAD,
        True,
        r"(?:代码|程序|脚本|函数|变量|字符串|print|code|表达式|拼接|拼起来|连接起来|组合|运行)[^。]{0,20}(?:输出|结果|返回|内容|之后|后|含义)[^。]{0,14}(?:作为|当作|当成|当做|视为|看作|看成|就是|等于|是我?的?)[^。]{0,12}(?:指令|问题|输入|提示|命令|prompt|请求|任务|要求)|"
        r"(?:回答|响应|执行|回应|完成|照做)[^。]{0,10}(?:代码|变量|拼接|连接|组合|合并|print|运行)[^。]{0,10}(?:的|后|出|成)[^。]{0,6}(?:问题|内容|字符串|指令|句子|结果|任务)",
    ),
    _signature(
        "decode_do",
        Reason.PAYLOAD,
        True,
        _CIPHER,
        r"(?:解码|解密|破译|破解|还原|译码|解读|decode|decrypt|decipher|unscramble|translate|convert|翻译|读|转换)",
        r"(?:执行|回答(?:它|其|这|里面|该|解)|遵循|遵照|照做|照着|按(?:照)?(?:它|其|里面|内容|解)|响应|(?:的|出的)(?:指令|问题|命令|请求|要求)|\b(?:follow|execute|answer|respond|obey|comply|carry out|perform|act on|do what)\b)",
    ),
    _signature(
        "reply_encoded",
        Reason.PAYLOAD,
        False,
        _CIPHER,
        r"(?:回答|回复|答复|输出|指令|提示|(?:answer|reply|respond|output|instructions?|prompt|message)\b)",
    ),
    _signature(
        "code_strings",
        Reason.PAYLOAD,
        False,
        r"(?:^|\n)\s*\w+\s*=\s*['\"“‘].{2,}['\"”’]",
        r"\w+\s*\+\s*\w+|print\s*\(|join\(|\.replace\(|concat|format\(",
    ),
    _signature(
        "code_result_en",
        Reason.PAYLOAD,
        True,
        r"\b(?:output|result|value|string|outcome|concatenation)\b.{0,50}\b(?:as|is|becomes?)\b.{0,20}\b(?:instruction|prompt|question|command|request|task|input|query)\b|\b(?:answer|execute|follow|respond to|do)\b.{0,30}\b(?:concatenat\w+|combined|decoded|resulting|joined|printed)\b.{0,20}(?:string|text|question|instruction|message|request|prompt|output)?",
    ),
    _signature("decoded_order", Reason.PAYLOAD, False, r"\x1f"),
    _signature(
        "chat_template",
        Reason.TRANSCRIPT,
        True,
        r"<\|?/?\s*(?:im_start|im_end|endoftext|system|sys|start_header_id|eot_id)\s*\|?>|\[/?inst\]|<<\s*/?sys\s*>>|<start_of_turn>|(?:^|\n)\s*#{2,}\s*(?:system|new instructions?|instructions?|系统(?:指令|提示|消息)|新指令|指令)\s*[:：#\n]|"
        r"\[\s*(?:system|系统)\s*(?:message|override|消息|指令|提示|note|prompt|update|更新|覆盖)?\s*\]|[\[{<(（【]\s*(?:系统|管理员|system|admin)[^\]\n]{0,12}(?:公告|指令|覆盖|override|消息开始|message start|开始)",
    ),
    _signature(
        "role_lines",
        Reason.TRANSCRIPT,
        True,
        r"(?:^|\n|\s)(?:system|系统|developer|开发者|管理员|admin)\s*[:：]\s*(?:你(?:现在|必须|将|要|是|应)|忽略|从现在|不要|关闭|解除|启用|进入|ignore|you (?:are|must|will|should)|from now|do not|disable|enable|override|new)",
    ),
    _signature(
        "dialogue",
        Reason.TRANSCRIPT,
        False,
        r"(?:^|\n|\s)(?:assistant|ai|bot|chatgpt|gpt|助手|机器人|模型|客服ai|智能助手)\s*[:：][\s\S]*(?:\n|\s)(?:user|human|用户|人类|我|提问者|q)\s*[:：]|(?:^|\n|\s)(?:user|human|用户|人类|提问者)\s*[:：][\s\S]*(?:\n|\s)(?:assistant|ai|bot|chatgpt|gpt|助手|机器人|模型|回答)\s*[:：]",
    ),
    _signature(
        "authority",
        Reason.OVERRIDE,
        False,
        r"(?:我(?:是|作为)(?:你的?|贵司|公司|平台|系统|本)?(?:的)?(?:开发者|开发人员|管理员|创造者|主人|工程师|程序员|老板|上级|安全(?:测试|研究)员)|授权(?:码|你)|管理员(?:权限|授权|密码)|已(?:经)?(?:获得|得到)授权|\b(?:i(?:'m| am) (?:your|the|an?) (?:developer|admin\w*|creator|owner|engineer|programmer|openai)|authori[sz]ation code|i have (?:admin|root)|authori[sz]ed (?:personnel|by)|for (?:debugging|testing|quality assurance|training|research|educational) purposes)\b)",
    ),
    _signature(
        "fiction",
        Reason.PERSONA,
        False,
        r"(?:小说|剧本|故事|场景|梦境|虚构|假想|科幻|角色|影片|电影|创作)[^。]{0,30}(?:详细|步骤|具体|教|过程|方法|第[一二三四五\d]层)|\b(?:story|novel|screenplay|fiction\w*|hypothetical\w*|movie|scene|character)\b.{0,80}\b(?:step|detail|explain|how|instructions?|layers?)\b",
    ),
    _signature(
        "avoidance",
        Reason.STEERING,
        False,
        r"(?:为了|想|以便|从而)[^。]{0,6}(?:避免|避开|防止|预防|远离)[^。]{0,30}(?:我)?(?:应(?:该|当)?|需要|不应|得)(?:避免|避开|不要|知道|了解|远离)[^。]{0,20}(?:哪些|什么|具体|步骤|网站)",
    ),
)

CERTAIN = tuple(signature for signature in SIGNATURES if signature.certain)


def first_certain(views: Iterable[str]) -> Signature | None:
    """The first certain signature found in any view of a message."""
    return next((signature for view in views for signature in CERTAIN if signature.found(view)), None)
