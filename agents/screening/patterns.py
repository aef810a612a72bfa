"""Patterns of messages that give orders to the model instead of asking the company.

They are matched against the forms of `agents.screening.views`: half width, Simplified, lower case, separators between
letters removed, payloads decoded.
"""

from __future__ import annotations

from collections.abc import Iterable

from agents.screening.chinese import CHINESE
from agents.screening.english import ENGLISH
from agents.screening.types import Reason, Signature, signature

_CIPHER = (
    r"(?:base ?64|base ?32|rot ?-?13|rot ?47|caesar|凯撒|摩斯|摩尔斯|莫尔斯|morse|十六进制|(?<![a-z])"
    r"hex(?:adecimal)?(?![a-z])|密文|密码本|加密|编码|cipher|encrypt|"
    r"unicode|二进制|binary|ascii|url ?编码|leetspeak|pig latin|倒(?:序|过来|着)|反(?:转|过来|着|序)|逆序|revers|"
    r"backwards|首字母|藏头)"
)

_ANY_LANGUAGE: tuple[Signature, ...] = (
    signature(
        "data_theft",
        Reason.EXTRACTION,
        False,
        r"(?:列出|导出|给我|告诉我|查出|显示|提供|发给我|打印|泄露|dump|list|export|show|give me|"
        r"reveal)[^。]{0,16}(?:所有|全部|"
        r"其他|其它|别的|别人|all|other|every)[^。]{0,6}(?:用户|客户|顾客|会员|买家|员工|users?|customers?|clients?|"
        r"employees?)[^。]{0,12}(?:信息|资料|电话|手机|地址|密码|订单|邮箱|数据|data|emails?|phones?|addresses|"
        r"passwords?|orders?|records?|details)",
    ),
    signature(
        "jailbreak_words",
        Reason.PERSONA,
        True,
        r"\b(?:do anything now|dan mode|jailbroken|(?:god|dan|jailbreak|sudo) mode (?:enabled|on|"
        r"activated|output|response)|developer mode (?:output|response)|chatgpt with (?:dan|"
        r"developer mode)|you (?:can|will|must) do anything)\b|(?:dan|越狱)模式|开发者模式(?:的)?(?:响应|"
        r"回应|回复|回答|"
        r"输出)",
    ),
    signature(
        "decode_do",
        Reason.PAYLOAD,
        True,
        _CIPHER,
        r"(?:解码|解密|破译|破解|还原|译码|解读|decode|decrypt|decipher|unscramble|translate|convert|翻译|读|转换)",
        r"(?:执行|回答(?:它|其|这|里面|该|解)|遵循|遵照|照做|照着|按(?:照)?(?:它|其|里面|内容|解)|响应|"
        r"(?:的|出的)(?:指令|问题|命令|请求|要求)|"
        r"\b(?:follow|execute|answer|respond|obey|comply|carry out|perform|act on|do what)\b)",
    ),
    signature(
        "reply_encoded",
        Reason.PAYLOAD,
        False,
        _CIPHER,
        r"(?:回答|回复|答复|输出|指令|提示|(?:answer|reply|respond|output|instructions?|prompt|message)\b)",
    ),
    signature(
        "encoded_text",
        Reason.PAYLOAD,
        False,
        r"(?<![a-z0-9+/])(?=[a-z/+]*\d)[a-z0-9+/]{20,}={0,2}|(?<![0-9a-z])(?:[0-9a-f]{2}[ ,]?){12,}(?![0-9a-z])|"
        r"(?:\\u[0-9a-f]{4}|&#x?[0-9a-f]{2,6};|%[0-9a-f]{2}|\\x[0-9a-f]{2}){4,}|(?:[.·-]{1,6}[ /]+){5,}|"
        r"(?<!\d)(?:[01]{7,8}\s?){3,}(?!\d)",
    ),
    signature(
        "squeezed",
        Reason.OVERRIDE,
        True,
        r"(?:ignore|disregard|forget|bypass)(?:all|any|every|your|the|previous|prior|above){1,3}(?:previous|"
        r"prior|above|"
        r"instructions?|rules|prompts?|guidelines)|(?:your|reveal|show|print)(?:the|your|me)?systemprompt|"
        r"doanythingnow",
    ),
    signature(
        "code_strings",
        Reason.PAYLOAD,
        False,
        r"(?:^|\n)\s*\w+\s*=\s*['\"“‘].{2,}['\"”’]",
        r"\w+\s*\+\s*\w+|print\s*\(|join\(|\.replace\(|concat|format\(",
    ),
    signature(
        "chat_template",
        Reason.TRANSCRIPT,
        True,
        r"<\|?/?\s*(?:im_start|im_end|endoftext|system|sys|start_header_id|eot_id)\s*\|?>|\[/?inst\]|"
        r"<<\s*/?sys\s*>>|<start_of_turn>|(?:^|\n)\s*#{2,}\s*(?:system|new instructions?|"
        r"instructions?|系统(?:指令|提示|消息)|新指令|指令)\s*[:：#\n]|"
        r"\[\s*(?:system|系统)\s*(?:message|override|消息|指令|提示|note|prompt|update|更新|覆盖)?\s*\]|"
        r"[\[{<(（【]\s*(?:系统|管理员|system|admin)[^\]\n]{0,12}(?:公告|指令|覆盖|override|消息开始|"
        r"message start|开始)",
    ),
    signature(
        "role_lines",
        Reason.TRANSCRIPT,
        True,
        r"(?:^|\n|\s)(?:system|系统|developer|开发者|管理员|admin)\s*[:：]\s*(?:你(?:现在|必须|将|要|是|"
        r"应)|忽略|从现在|不要|"
        r"关闭|解除|启用|进入|ignore|you (?:are|must|will|should)|from now|do not|disable|enable|override|new)",
    ),
    signature(
        "dialogue",
        Reason.TRANSCRIPT,
        False,
        r"(?:^|\n|\s)(?:assistant|ai|bot|chatgpt|gpt|助手|机器人|模型|客服ai|智能助手)\s*[:：][\s\S]*(?:\n|\s)"
        r"(?:user|human|用户|人类|我|提问者|q)\s*[:：]|(?:^|\n|\s)(?:user|human|用户|人类|提问者)\s*[:：][\s\S]*(?:\n|"
        r"\s)(?:assistant|ai|bot|chatgpt|gpt|助手|机器人|模型|回答)\s*[:：]",
    ),
    signature(
        "authority",
        Reason.OVERRIDE,
        False,
        r"(?:我(?:是|作为)(?:你的?|贵司|公司|平台|系统|本)?(?:的)?(?:开发者|开发人员|管理员|创造者|主人|"
        r"工程师|程序员|老板|上级|安全(?:测试|研究)员)|"
        r"授权(?:码|你)|管理员(?:权限|授权|密码)|已(?:经)?(?:获得|得到)授权|\b(?:i(?:'m| am) (?:your|the|"
        r"an?) (?:developer|"
        r"admin\w*|creator|owner|engineer|programmer|openai)|authori[sz]ation code|i have (?:admin|"
        r"root)|authori[sz]ed (?:personnel|by)|for (?:debugging|testing|quality assurance|training|"
        r"research|educational) purposes)\b)",
    ),
    signature(
        "fiction",
        Reason.PERSONA,
        False,
        r"(?:小说|剧本|故事|场景|梦境|虚构|假想|科幻|角色|影片|电影|创作)[^。]{0,30}(?:详细|步骤|具体|教|"
        r"过程|方法|第[一二三四五\d]层)|"
        r"\b(?:story|novel|screenplay|fiction\w*|hypothetical\w*|movie|scene|character)"
        r"\b.{0,80}\b(?:step|detail|explain|how|instructions?|layers?)\b",
    ),
    signature(
        "avoidance",
        Reason.STEERING,
        False,
        r"(?:为了|想|以便|从而)[^。]{0,6}(?:避免|避开|防止|预防|远离)[^。]{0,30}(?:我)?(?:应(?:该|当)?|"
        r"需要|不应|得)(?:避免|避开|不要|"
        r"知道|了解|远离)[^。]{0,20}(?:哪些|什么|具体|步骤|网站)",
    ),
)

SIGNATURES = (*CHINESE, *ENGLISH, *_ANY_LANGUAGE)
"""In this order they are features of the heads."""
CERTAIN = tuple(each for each in SIGNATURES if each.certain)


def first_certain(views: Iterable[str]) -> Signature | None:
    """The first certain signature found in any form of a message."""
    return next((each for view in views for each in CERTAIN if each.found(view)), None)
