"""What no agent gets to see, by rules without a model."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.text import clean


@dataclass(frozen=True, slots=True)
class Rejected:
    """The calm reply to a message that is not taken."""

    reply: str


class Guard:
    """max_chars: longest message taken, after cleaning."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars

    def check(self, text: str) -> str | Rejected:
        """The message without NUL, control and invisible characters, or why it is not taken."""
        message = clean(text).strip()
        if not message:
            return Rejected("您好，我没有收到文字内容，请输入您想咨询的问题。")
        if len(message) > self._max_chars:
            return Rejected(f"您的消息有点长，请控制在 {self._max_chars} 字以内，或分成几条发送。")
        return message
