"""The channels by their kind; a new one is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.channels.base import Channel


def _load_webhook() -> type[Channel]:
    from app.channels.webhook import WebhookChannel

    return WebhookChannel


def _load_mail() -> type[Channel]:
    from app.channels.mail import MailChannel

    return MailChannel


def _load_wecom() -> type[Channel]:
    from app.channels.wecom import WecomChannel

    return WecomChannel


def _load_wecom_kf() -> type[Channel]:
    from app.channels.wecom_kf import WecomKfChannel

    return WecomKfChannel


def _load_wecom_bot() -> type[Channel]:
    from app.channels.wecom_bot import WecomBotChannel

    return WecomBotChannel


def _load_wechat() -> type[Channel]:
    from app.channels.wechat import WechatChannel

    return WechatChannel


def _load_feishu() -> type[Channel]:
    from app.channels.feishu import FeishuChannel

    return FeishuChannel


def _load_dingtalk() -> type[Channel]:
    from app.channels.dingtalk import DingtalkChannel

    return DingtalkChannel


# Kind, as in the setting CHANNELS -> function that loads its class.
CHANNELS: Mapping[str, Callable[[], type[Channel]]] = {
    "webhook": _load_webhook,
    "mail": _load_mail,
    "wecom": _load_wecom,
    "wecom_kf": _load_wecom_kf,
    "wecom_bot": _load_wecom_bot,
    "wechat": _load_wechat,
    "feishu": _load_feishu,
    "dingtalk": _load_dingtalk,
}
