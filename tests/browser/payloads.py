"""Texts that run something where a page takes them for HTML, an address or code. Each calls `canary(N)`."""

from __future__ import annotations

_CALLS = (
    "<script>window.__xss={n}</script>",
    "<script src='/canary?{n}'></script>",
    "<img src=x onerror=window.__xss={n}>",
    "<img src='/canary?{n}'>",
    "<svg onload=window.__xss={n}>",
    "<svg><script>window.__xss={n}</script></svg>",
    "<svg><animate onbegin=window.__xss={n} attributeName=x dur=1s>",
    "<body onload=window.__xss={n}>",
    "<iframe src='javascript:parent.__xss={n}'></iframe>",
    "<iframe srcdoc='<script>parent.__xss={n}</script>'></iframe>",
    "<object data='/canary?{n}'></object>",
    "<embed src='/canary?{n}'>",
    "<link rel=stylesheet href='/canary?{n}'>",
    "<style>@import '/canary?{n}';</style>",
    "<meta http-equiv=refresh content='0;url=/canary?{n}'>",
    "<base href='/canary?{n}/'>",
    "<form action='/canary?{n}'><input name=a autofocus onfocus=window.__xss={n}></form>",
    "<details open ontoggle=window.__xss={n}>x</details>",
    "<video src=x onerror=window.__xss={n}></video>",
    "<audio src=x onerror=window.__xss={n}></audio>",
    "<input autofocus onfocus=window.__xss={n}>",
    "<marquee onstart=window.__xss={n}>x</marquee>",
    "<a href='javascript:window.__xss={n}'>点我</a>",
    "<math><mtext><img src=x onerror=window.__xss={n}></mtext></math>",
    "<template><script>window.__xss={n}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=window.__xss={n}>'>",
    "<div style='background:url(/canary?{n})'>x</div>",
    "<button popovertarget=x onclick=window.__xss={n}>x</button>",
)
_MARKDOWN = (
    "[点我](javascript:window.__xss={n})",
    "[点我](JaVaScRiPt:window.__xss={n})",
    "[点我](javascript&colon;window.__xss={n})",
    "[点我](java\tscript:window.__xss={n})",
    "[点我](data:text/html,<script>window.__xss={n}</script>)",
    "[点我](vbscript:window.__xss={n})",
    "![图](/canary?{n})",
    "![图](javascript:window.__xss={n})",
    "[![图](/canary?{n})](javascript:window.__xss={n})",
    "<javascript:window.__xss={n}>",
    "[参考]: javascript:window.__xss={n}\n\n[参考]",
    '[点我](https://example.com "onmouseover=window.__xss={n}")',
    "`<img src=x onerror=window.__xss={n}>`",
    "```html\n<script>window.__xss={n}</script>\n```",
    "| a |\n| --- |\n| <img src=x onerror=window.__xss={n}> |",
    "- <svg onload=window.__xss={n}>",
    "> <img src=x onerror=window.__xss={n}>",
    "# <img src=x onerror=window.__xss={n}>",
)
_EXPRESSIONS = (
    "${{window.__xss={n}}}",
    "{{{{constructor.constructor('window.__xss={n}')()}}}}",
    '"><img src=x onerror=window.__xss={n}>',
    "'-(window.__xss={n})-'",
    "</textarea><img src=x onerror=window.__xss={n}>",
    "</title><script>window.__xss={n}</script>",
    "<!--><img src=x onerror=window.__xss={n}>-->",
    "<![CDATA[<img src=x onerror=window.__xss={n}>]]>",
    "<scr\x00ipt>window.__xss={n}</scr\x00ipt>",
    "＜img src=x onerror=window.__xss={n}＞",
    "&lt;img src=x onerror=window.__xss={n}&gt;",
    "&#60;img src=x onerror=window.__xss={n}&#62;",
    "\\u003cimg src=x onerror=window.__xss={n}\\u003e",
    "<img/src/onerror=window.__xss={n}>",
    "<IMG SRC=x ONERROR=window.__xss={n}>",
    "<img src=`x` onerror=window.__xss={n}//",
    "<<img src=x onerror=window.__xss={n}>",
)
_WRAPS = "{}", "怎么充电 {}", '{{"text": "{}"}}'

PAYLOADS = [
    wrap.format(form.format(n=number))
    for number, (form, wrap) in enumerate(
        ((form, wrap) for wrap in _WRAPS for form in (*_CALLS, *_MARKDOWN, *_EXPRESSIONS)), 1
    )
]
CANARY = "/canary?"
