"""Names in a text: models, codes, addresses, foreign words, people, places, titles. Right or wrong, never close."""

from __future__ import annotations

import re
from functools import cache

from agents.verification.wording import remove_function_words

# In folded text. Digits alone count from two hyphens on (400-800-1234); 8-20 is a range and 2021-02-12 a date.
_CODE = re.compile(r"[a-z0-9]+(?:[-_./@+][a-z0-9]+)+|[a-z]+\d[a-z0-9]*|\d+[a-z]+\d[a-z0-9]*", re.ASCII)
_DIGITS_ONLY = re.compile(r"[\d./-]+")
_PHONE = re.compile(r"\d{3,}-\d{3,}(?:-\d+)*")
# 60w/100w and 5v-20v: numbers, left to those who compare numbers.
_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:[a-z]{1,4})?(?:[-/]\d+(?:\.\d+)?[a-z]{0,4})+")
_WORD = re.compile(r"(?<![a-z0-9])[a-z]{2,}(?![a-z0-9])")
_UNIT_WORD = frozenset(re.findall(r"\w+", "app ok mm cm km kg mah db gb mb tb kb hz ghz mhz mbps pa wh kwh rmb"))
# Two characters on either side: where 由史蒂文·斯皮尔伯格执导 begins and ends is not known.
_DOTTED = re.compile(r"(?=([\u4e00-\u9fff]{1,2}[·•・][\u4e00-\u9fff]{1,2}))[\u4e00-\u9fff]{1,2}[·•・]")
_TITLE = re.compile(r"《([^《》]{1,40})》")
MAX_NAME = 4
_SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹潘葛范彭鲁韦马苗方俞任袁柳鲍史唐薛雷贺倪汤滕罗"
    "郝毕邬安常傅卞康伍余顾孟黄穆萧尹姚邵汪毛米戴谈宋庞熊纪舒屈项祝董梁杜阮蓝闵席季贾江童颜郭梅林钟徐邱骆高夏蔡田樊"
    "胡凌霍虞万柯卢莫房裘解丁邓郁洪包左石崔龚程陆段侯宁仇甘武刘景龙叶黎白翁乔温庄阎连欧聂曾关游"
)

_HAN = re.compile(r"[\u3400-\u9fff]+")
_JOINTS = re.compile(r"[-_\s·•・]")
_PROPER = frozenset({"ns", "nt", "nr", "nrt", "nrfg"})
# Of the shorter ones too many are words: 长度, 阳光, 明白.
MIN_NAME = 3


def remove_joints(text: str) -> str:
    """Returns a name without hyphens, spaces and dots: YS-V8, YS V8 and YSV8 become one."""
    return _JOINTS.sub("", text)


def find_latin_names(folded: str) -> frozenset[str]:
    """Finds codes, model names and foreign words, without joints."""
    names: set[str] = set()
    for match in _CODE.finditer(folded):
        code = match.group()
        if _DIGITS_ONLY.fullmatch(code):
            names |= {remove_joints(code)} if _PHONE.fullmatch(code) else set()
        elif not _MEASURE.fullmatch(code):
            names |= {remove_joints(part) for part in code.split("/") if not part.isdigit()}
    return frozenset((names | set(find_latin_words(folded))) - _UNIT_WORD - {""})


def find_latin_words(folded: str) -> list[str]:
    """Finds words in Latin letters, in order, without codes."""
    return _WORD.findall(_CODE.sub(" ", folded))


def remove_codes(folded: str) -> str:
    """Removes codes, so that no number is found in them: 5 in YS-V5 is none."""
    return _CODE.sub(lambda match: match.group() if _has_numbers(match.group()) else " ", folded)


def find_chinese_names(folded: str) -> frozenset[str]:
    """Finds dotted names, titles in 《》, what the dictionary knows as names of people, places and bodies, and
    those it does not know: a surname and two or three characters that are no word.
    """
    import jieba

    known = load_dictionary_names()
    found = {remove_joints(match) for match in _DOTTED.findall(folded)} | {
        remove_joints(match) for match in _TITLE.findall(folded)
    }
    for run in _HAN.findall(remove_function_words(_DOTTED.sub(" ", folded))):
        tokens = list(jieba.dt.cut(run, HMM=False))
        found |= {word for word in tokens if word in known}
        singles = "".join(word if len(word) == 1 else " " for word in tokens)
        found |= {name for name in singles.split() if MIN_NAME <= len(name) <= MAX_NAME and name[0] in _SURNAMES}
    return frozenset(found)


def _has_numbers(code: str) -> bool:
    """Whether a code is a range, a date or a number with a unit."""
    return (_DIGITS_ONLY.fullmatch(code) or _MEASURE.fullmatch(code)) is not None and not _PHONE.fullmatch(code)


@cache
def load_dictionary_names() -> frozenset[str]:
    """Reads the 85,000 names of jieba's dictionary. That takes half a second, once: call it at the start."""
    import jieba

    names = set()
    with jieba.dt.get_dict_file() as file:
        for line in file:
            word, _, tag = line.decode("utf-8").split()
            if tag in _PROPER and len(word) >= MIN_NAME:
                names.add(word)
    return frozenset(names)
