"""The channels by their kind; a new one is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.channels.base import Channel


def _webhook() -> type[Channel]:
    from app.channels.webhook import WebhookChannel

    return WebhookChannel


def _mail() -> type[Channel]:
    from app.channels.mail import MailChannel

    return MailChannel


def _wecom() -> type[Channel]:
    from app.channels.wecom import WecomChannel

    return WecomChannel


def _wecom_kf() -> type[Channel]:
    from app.channels.wecom_kf import WecomKfChannel

    return WecomKfChannel


def _wecom_bot() -> type[Channel]:
    from app.channels.wecom_bot import WecomBotChannel

    return WecomBotChannel


def _wechat() -> type[Channel]:
    from app.channels.wechat import WechatChannel

    return WechatChannel


def _feishu() -> type[Channel]:
    from app.channels.feishu import FeishuChannel

    return FeishuChannel


def _dingtalk() -> type[Channel]:
    from app.channels.dingtalk import DingtalkChannel

    return DingtalkChannel


CHANNELS: Mapping[str, Callable[[], type[Channel]]] = {
    "webhook": _webhook,
    "mail": _mail,
    "wecom": _wecom,
    "wecom_kf": _wecom_kf,
    "wecom_bot": _wecom_bot,
    "wechat": _wechat,
    "feishu": _feishu,
    "dingtalk": _dingtalk,
}
"""Kind, as in the setting CHANNELS -> loads its class."""
