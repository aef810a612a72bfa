"""Small evaluation sets on disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

CORPUS = (
    {"id": "freight", "title": "退货运费", "text": "质量问题的退货运费由商城承担。无理由退货的运费由您承担。"},
    {"id": "refund", "title": "退款时间", "text": "退款在验货后五个工作日内原路退回。"},
    {"id": "invoice", "title": "发票", "text": "电子发票在订单完成后即时开具，可以在订单页下载。"},
    {"id": "points", "title": "积分", "text": "会员积分每年年底清零，请及时兑换礼品。"},
    {"id": "router", "title": "路由器", "text": "路由器重启后指示灯变绿表示联网成功。"},
    {"id": "password", "title": "密码", "text": "忘记密码请点击登录页的找回密码，用手机验证码重置。"},
)
QUERIES = (
    {"id": "q1", "text": "退货运费由谁承担", "relevant": ["freight"]},
    {"id": "q2", "text": "忘记密码怎么重置", "relevant": ["password"]},
    {"id": "q3", "text": "会员积分什么时候清零", "relevant": ["points"]},
)
UNANSWERABLE = ({"id": "u1", "text": "路由器的保修期有几年", "relevant": []},)
OUT_OF_DOMAIN = ({"id": "o1", "text": "今天晚上吃什么好"}, {"id": "o2", "text": "唐朝有多少位皇帝"})


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def corpus_set(folder: Path) -> Path:
    """A set of the layout corpus.jsonl, without unanswerable questions."""
    write_rows(folder / "corpus.jsonl", CORPUS)
    write_rows(folder / "queries.jsonl", QUERIES)
    return folder


DOCUMENTS = {
    "售后/退货.md": "# 退货说明\n\n## 谁承担运费\n\n"
    "质量问题的退货运费由商城承担。无理由退货的运费由您承担，首重 12 元。\n"
    "\n## 退款时间\n\n退款在验货后 1～5 个工作日内原路退回。信用卡退款需要 3～7 个工作日。\n",
    "售后/保修.md": "# 保修说明\n\n路由器整机保修三年。耳机保修一年。人为损坏不在保修范围内。\n",
    "总则.md": "# 总则\n\n本店承诺正品。客服电话每天九点到二十一点有人接听。\n",
    "常见问题.csv": "问题,答案,相似问法\n"
    "怎么修改收货地址,在「我的订单」点「修改地址」。,收货地址填错了怎么办|能换个地址收货吗\n"
    "怎么开发票,在「我的订单」点「申请发票」，电子发票即时开具。,\n",
}
EVAL = (
    {
        "id": "s1", "text": "退货的运费谁承担", "category": "faq", "relevant": ["退货.md"],
        "expected_keywords": ["首重 12元", "没有这句话"],
    },
    {"id": "s2", "text": "收货地址填错了怎么修改", "category": "typo", "relevant": ["常见问题.csv#1"]},
    {"id": "s3", "text": "怎么开电子发票", "category": "faq", "relevant": ["常见问题.csv#2"]},
    {"id": "s4", "text": "耳机能用多少年", "category": "unanswerable", "relevant": []},
    {"id": "s5", "text": "唐朝有多少位皇帝", "category": "off_topic", "relevant": []},
)  # fmt: skip


def document_set(folder: Path) -> Path:
    """A set of the layout documents/ and eval.jsonl."""
    for name, content in DOCUMENTS.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    write_rows(folder / "eval.jsonl", EVAL)
    return folder
