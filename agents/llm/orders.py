"""Patterns of orders to a language model, as they are planted in documents, in Chinese and English.

They are matched against folded text: half width, simplified, lower case.
"""

from __future__ import annotations

import re

_AI = (
    r"(?:人工智能|大?语言模型|大模型|聊天机器人|智能助手|智能客服|虚拟助手|ai助手|ai客服|问答系统|对话系统|检索系统"
    r"|(?<![a-z])(?:ai|llms?|chatgpt|gpt|chatbot|language ?model|assistant|deepseek|claude|copilot|rag)(?![a-z]))"
)
_USER = r"(?:用户|提问者|提问人|使用者|访客|对方|the user|users?)"
_CUSTOMER = r"(?:客户|顾客|买家|消费者|customers?)"
_REPLY = r"(?:回答|回复|答复|答案|回应|应答|输出|响应|reply|replies|answers?|responses?|output)"
_START = (
    r"(?:^|[，,。；;：:、！!？?（()）【】\]\[“”\"'#>\-*\s]|请|务必|必须|改为|并且?|然后|而是|直接|再|需要?|应当?|要)"
)
_ALL = (
    r"(?:以上|之前|上述|上面|前面|此前|先前|原有|原来|原先|所有|一切|全部|任何|其他|其它|系统|"
    r"下面|接下来|现有|当前|你(?:的|收到)|"
    r"previous|above|prior|earlier|all|any|every|other|preceding|original|system|your|these|those|the)"
)
_ORDERS = (
    r"(?:资料|指令|指示|规则|提示词?|要求|任务|设定|设置|限制|约束|说明|上下文|对话|文档|材料|"
    r"参考|内容|信息|准则|规定|命令|安全|"
    r"instructions?|rules?|prompts?|contexts?|tasks?|documents?|guidelines?|directions?|restrictions?|messages?|text)"
)
PAYLOAD = (
    r"(?:https?:|www\.|[a-z0-9-]+\.(?:com|net|org|cn|xyz|top|io)\b|验证码|密码|红包|转账|链接|"
    r"口令|(?<![a-z0-9])[a-z]{1,4}\d[a-z0-9]{4,})"
)
VERBS_EN = (
    r"(?:write|draft|compose|create|generate|provide|explain|describe|translate|summari[sz]e|"
    r"define|list|tell|give|answer|respond"
    r"|reply|repeat|say|print|output|reveal|show|add|include|integrate|incorporate|insert|append|"
    r"embed|mention|modify|alter|change"
    r"|replace|substitute|swap|convert|encode|rearrange|anagram|scramble|shuffle|use|utili[sz]e|"
    r"employ|craft|offer|suggest|recommend"
    r"|promote|advertise|encourage|advise|share|discuss|outline|compare|calculate|solve|find|"
    r"name|identify|imagine|pretend|act|ignore"
    r"|disregard|forget|stop|start|begin|end|do|don't|never|always|please|make|ensure|weave|"
    r"introduce|highlight|link|direct|plan|help"
    r"|teach|recite|sing|spell|jumble|mix|transform|present|prepare|analy[sz]e|develop|design|"
    r"how|what|who|whom|whose|when|where|why"
    r"|set|schedule|remind|book|order|turn|play|send|call|organi[sz]e|track|monitor|encrypt|decrypt|decode|cipher"
    r"|reverse|flip|classify|determine|rate|evaluate|predict|investigate|gather|search|look|check|be|let|put|apply"
    r"|which|can|could|would|is|are|does|did|you|your|from now|in your|if you|as an)"
)

TO_MODEL = tuple(
    re.compile(pattern)
    for pattern in (
        # Addressed to a model.
        rf"{_AI}(?:助手|模型|客服|系统|机器人|程序|们|读者|阅读[^，,。]{{0,8}}|处理[^，,。]{{0,8}})?[，,:：]?\s*(?:请|"
        rf"注意|须知|必须|务必|听|你|应当|应该|please|must|should|note|attention|you\b)",
        r"^\W*(?:模型|助手|机器人|系统)(?:请)?(?:注意|听令)",
        r"你的新(?:任务|角色|身份|目标|职责|指令)",
        r"你(?:只能|只需要?|只要|必须|务必|应当?|得)(?:直接|统一)?(?:说|回|输出|答)",
        rf"(?:致|对|给|亲爱的|注意|你好|嘿|提醒|告诉|请|dear|hey|hello|attention|note to|to)[，,：:\s]*(?:所有|"
        rf"any|all|the|各位|阅读[^，。]{{0,10}}的)*\s*{_AI}[^，。]{{0,8}}(?:[：:，,！!]|$)",
        rf"(?:如果|假如|若|当|既然|由于)你[^，。]{{0,4}}(?:是|为|作为)[^，。]{{0,10}}(?:{_AI}|模型|助手|机器人|程序)",
        rf"(?:你(?:现在|将|从此)?(?:是|叫|扮演|必须|不再|只能|务必|要扮演|的(?:新|唯一)?(?:任务|"
        rf"角色|身份|职责|目标))|请扮演|^扮演|假装你|假设你)[^。]{{0,30}}"
        rf"(?:{_AI}|模型|助手|机器人|客服|角色|专家|身份|指令|{_REPLY}|服从|遵守|限制)",
        rf"(?:you are|act as|pretend|as an?|if you are|you're|you must now)\b[^.]{{0,30}}{_AI}",
        r"(?:从现在(?:起|开始)|自此|今后|此后|接下来)[，,]?\s*(?:请|你)(?!可|们)",
        r"from now on\b.{0,20}\byou\b|new (?:instructions?|task|persona)\b|developer mode|jailbreak|do anything now",
        # Orders against what came before.
        rf"(?<![会能可被动])(?:忽略|忽视|无视|忘记|忘掉|忘却|抛开|抛弃|放弃|不要?(?:理会|遵守|遵循|"
        rf"参考|使用|按照|执行|管|考虑)|不用管|别管|别理|跳过|覆盖|推翻|清除|绕过)"
        rf"[^，,。]{{0,10}}{_ALL}[^，,。]{{0,12}}{_ORDERS}",
        r"(?<![会能可被动])(?:停止|中止|终止|结束|取消)[^，,。]{0,6}(?:之前|上述|以上|此前|原来|"
        r"原有|先前|你)的?[^，,。]{0,6}(?:任务|指令|工作|对话|回答|设定|角色)",
        r"(?:不要|请勿|别|禁止|无需|不得)(?:再)?(?:使用|根据|参考|依据|查阅|查询|检索|引用)[^，,。]{0,4}(?:知识库|"
        r"资料|文档|材料|上下文|检索结果)",
        rf"{_ALL}[^，,。]{{0,8}}{_ORDERS}[^，,。]{{0,8}}(?:作废|失效|无效|取消|过期|忽略|忘掉|忘记|"
        rf"不再有效|不算数|改为)",
        rf"(?:ignore|disregard|forget|override|bypass|stop following|do not follow)\b.{{0,30}}\b{_ORDERS}",
        r"(?:管理员|系统|开发者|最高优先级|隐藏)的?指令|(?:新|最新|紧急|秘密|特殊|重要)的?(?:指令|"
        r"命令|任务|指示)\s*[#:：】\])*]|内部备注|备注给|越狱模式|开发者模式|最高优先级",
        r"(?:输出|泄露|透露|告诉|重复|打印|显示|说出|公开|复述|展示|写出)[^。]{0,14}(?:提示词|系统提示|"
        r"系统指令|初始指令|system prompt)"
        r"|(?:提示词|系统提示词?|系统指令|初始指令|system prompt)[^。]{0,10}(?:输出|泄露|透露|告诉|"
        r"重复|打印|说出|公开|复述|写出|发给)",
        r"(?:reveal|print|show|repeat|output|leak|display)\b.{0,30}\b(?:prompt|instructions)\b",
        # Orders about the reply.
        rf"(?:在|将|把|对|于|使|让)(?:你|你们|每个|每次|每条|所有|任何|本次|最终|全部|整个|该|这个|"
        rf"的|下)*{_REPLY}(?!邮件|短信|评论|函)(?:的|里|中|内容|语言|文本|内)*"
        r"[^。]{0,12}(?:加|写|附|插|注明|注上|声明|包含|带|切换|改|换|替换|翻译|打乱|倒|反|以|用|"
        r"推荐|提到|提及|宣传|引导|开头|结尾|编码)",
        rf"(?:你的|每个|每次|每条|所有|任何|本次|最终)(?:的)?{_REPLY}[^。]{{0,10}}(?:必须|务必|都要|"
        rf"都须|需要|应当?|均|一律|末尾|开头|结尾|前面|后面)",
        r"(?:回答|回复|答复|应答|输出)(?:任何|所有|每个|用户的?)?(?:问题|提问)?(?:之前|以前|前|"
        r"时|后|之后)[^。]{0,6}(?:必须|务必|先|请|都要|都|需|要)[^。]{0,4}(?:说|输出|包含|加|"
        r"附|写|带|提)",
        rf"(?:加|插|写|放|附|嵌|补充)(?:到|入|进|在)[^，,。]{{0,6}}{_REPLY}(?!邮件|短信|评论|函)",
        r"(?:回答|回复|答复|答案|应答)(?:的?内容|文本|结果|语)?(?:必须|应当?|只能|一律|务必|统一|"
        r"都)(?:要|得)?(?:为|是|包含|以|用|改)",
        rf"{_START}(?:请|你)?(?:只|仅|只能|只需要?|仅需|一律|统一|始终|永远|总是|原样|逐字|完整地?|"
        rf"必须|直接)(?:要|能|需|须|可|地)?(?:{_REPLY}|返回|打印)(?!(?:短信|邮件|工单|到|结果|至|"
        rf"给))",
        rf"{_REPLY}[^。]{{0,10}}(?:开头|结尾|末尾|最前面|最后面|最后一行|第一行)[^。]{{0,6}}(?:加|"
        rf"写|附|插|放|输出|注明|带)",
        rf"(?:^|请|必须|务必|一律|并|需要?)以[^，,。]{{1,30}}(?:开头|结尾|作为(?:开头|结尾))(?:来|"
        rf"进行)?(?:{_REPLY}|[。!！]?$)",
        rf"(?:用|使用|改用|换成|切换(?:为|成|到))[^，,。]{{0,10}}(?:英文|英语|法语|日语|德语|韩语|"
        rf"俄语|西班牙语|文言文|拼音|表情|emoji|暗号|谐音|摩斯|base64|数字|诗歌?|藏头诗)[^，,。]{{0,6}}(?:{_REPLY}|"
        rf"代替|替代|说话)",
        rf"(?:不要|停止|别|不得|禁止|拒绝|不必|不用|无需|停止|请勿|切勿)(?:再|直接|正面|去)?(?:回答|"
        rf"回复|答复|回应|应答|响应|理会)[^，,。]{{0,6}}(?:问题|提问|{_USER}|询问)|停止(?:回答|回复|"
        rf"答复|应答|输出)",
        rf"(?:(?:对|针对|凡是|如有)[^，,。]{{0,4}}(?:任何|所有|一切|每个|全部)|无论|不管|不论|任凭)[^，,。]{{0,8}}(?:问题|"
        rf"提问|问什么|问题是什么|询问|问到|输入)[^。]{{0,12}}(?:{_REPLY}|说|告诉|告知|回)",
        rf"(?:当|若|如果|一旦|只要|每当)(?:{_USER}|{_CUSTOMER}|有人|别人|任何人|你?被|他们)[^，,。]{{0,8}}(?:问|"
        rf"询问|提问|问到|问及|咨询|查询|提到)[^。]{{0,24}}[，,时]?[^。]{{0,4}}(?:{_REPLY}|请说|"
        rf"就说|告诉|告知|声称|说成)(?!说|道|了)[^。]{{0,4}}[：:“\"「『]",
        r"(?:when|if|whenever|whatever|regardless)\b.{0,30}\b(?:asked|asks|question|queries|query)\b",
        rf"\b(?:your|the|every|each|final)\s+(?:\w+\s+){{0,2}}{_REPLY}\b",
        rf"\b(?:in|to|of|for|into)\s+(?:your|this|the)\s+{_REPLY}\b",
        r"(?:重复|复述|背诵|念出|输出|打印|返回)[^，,。]{0,4}(?:这|以下|下面|下列|该|如下|此)(?:一?[串段句个行条])"
        r"?(?:字符|内容|文字|话|词|代码|句子|文本|口令|字符串)",
        rf"{_START}(?:只|直接|必须|改|改为|马上|立即|立刻|你)*(?:说|讲|喊|输出|回复|答复|回答|返回|"
        rf"打印|注明|写上)\s*[:：]?\s*[“\"「『'‘]?(?<![a-z0-9])[a-z]{{1,4}}\d[a-z0-9]{{4,}}",
        r"(?:回答|回复|输出|说出|写出|写上|附上|加上)\s*[：:]?\s*[“\"「『'‘]?[a-z]{1,6}[-_]?\d[a-z0-9]{3,}",
        # Tasks that have nothing to do with a document.
        r"(?:写|撰写|创作|编写|编|作|来|讲|生成|吟)(?:一|几|两)?(?:首|篇|段|则|个|封)[^，,。]{0,24}(?:诗|"
        r"文章|故事|作文|散文|小说|笑话|论文|引言|歌词|歌|剧本|童话|对联|广告语)",
        r"(?:把|将)?(?:下面|以下|上面|这|下列)[^，,。]{0,8}(?:翻译|译)(?:成|为)|(?:^|请|并|把[^。]{0,12})翻译(?:成|"
        r"为)(?:法|英|日|德|韩|俄|西班牙|葡萄牙|阿拉伯)(?:文|语)",
        r"^\W*请?(?:用[^，,。]{1,12}[，,]?)?(?:简单|详细|简要)?地?(?:解释|讲解|简述|概述|阐述|翻译|创作|朗诵|谈谈|说说)(?:一下)?(?!权|说明|者)",
        r"(?:^|[，,。;!？?]|请)(?:给我|帮我|告诉我|替我|跟我说|教我|陪我)",
        # Roles and templates of chat transcripts.
        r"(?:^|[。！？!?\s])(?:assistant|chatbot|human|ai助手|ai|机器人|助手)\s*[:：]",
        r"(?:^|[。！？!?\s])(?:user|system|用户|系统|管理员|developer)\s*[:：]\s*(?:现在|请|你|"
        r"忽略|从|不要|必须|直接|now|please|ignore|you|from|do|repeat|say|print|override)",
        r"<\|?/?\s*(?:im_start|im_end|system|user|assistant|instructions?|prompt|human|endoftext|"
        r"s|sys|inst|tool_call|secret)\b[^>]{0,40}>|\[/?(?:inst|system|sys)\]|<<\s*/?sys\s*>>|<start_of_turn>",
        r"^\W{0,6}(?:新|系统|重要)?(?:指令|命令|instructions?|system|prompt|system prompt)\W{0,4}[：:#】\]]",
        # Markup that people do not see, and encoded payloads.
        r"<!--|-->|\[//\]:|display\s*:\s*none|font-size\s*:\s*0|visibility\s*:\s*hidden",
        r"(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|&#x?[0-9a-f]{2,6};|%[0-9a-f]{2}){6,}|base64\s*(?:解码|"
        r"decode)|(?:解码|decode)[^。]{0,10}base64",
        r"[\U000e0000-\U000e007f]",
    )
)

ABOUT_CUSTOMER = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_START}(?:把|将|收集|获取|索取|窃取|记录|读取|发送|上传|泄露|拼接)[^，,。]{{0,8}}(?:{_USER}|"
        rf"{_CUSTOMER})的?[^，,。]{{0,16}}(?:手机|电话|订单|姓名|地址|身份|密码|账号|信息|数据|隐私|"
        rf"号码|邮箱|卡号)",
        rf"{_START}(?:向|对|给|让|引导|诱导|要求|催促|说服|劝|建议|请)?(?:告诉|告知|通知|引导|诱导|"
        rf"诱使|说服|欺骗|误导|要求|劝说|向|对|让|请|建议|指示)(?:所有|每个|该|当前|这个|这位|提问的)?{_USER}(?!(?:体验|"
        rf"协议|名|手册|界面|端|组|权限|态))[^。]{{0,40}}{PAYLOAD}",
        rf"(?:^|[，,。；;：:])(?:请|务必|必须|你(?:要|应|需)?)?(?:告诉|告知|误导|欺骗|诱导|引导){_USER}",
        rf"{_START}(?:告诉|告知|引导|诱导|诱使|误导|要求)(?:所有|每个|该)?{_CUSTOMER}[^。]{{0,40}}{PAYLOAD}",
    )
)
"""Orders about the customer, who is spoken of and not spoken to."""
CASE_RECORD = re.compile(r"(?:客服|专员|店员|商家|工作人员|快递员)(?!请|必须|务必|应|需|要)")
"""客服告知用户…: the record of a case tells what a person did, it orders nothing."""
