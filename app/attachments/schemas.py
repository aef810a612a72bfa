"""Bodies of attachments."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from app.attachments.types import MAX_PER_MESSAGE, Attachment, TextState

AttachmentId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
AttachmentIds = Annotated[
    list[AttachmentId],
    Field(max_length=MAX_PER_MESSAGE, description="随消息发出的图片和文件的编号，先上传得到；这时可以不说话"),
]


class AttachmentOut(BaseModel):
    """A picture or file that goes with a message."""

    id: str
    name: str = Field(description="文件名；图片的扩展名是重新编码后的格式")
    media_type: str
    bytes: int = Field(description="字节数；图片是重新编码之后的")
    width: int = Field(description="图片的宽（像素）；不是图片时为 0")
    height: int = Field(description="图片的高（像素）；不是图片时为 0")

    @classmethod
    def from_attachment(cls, attachment: Attachment) -> Self:
        return cls.model_validate(attachment.build_brief())


class AttachmentTextOut(BaseModel):
    """What is written in a picture."""

    id: str
    text: str = Field(description="图片里识别出的文字；没有时为空")
    state: Literal["read", "none", "unread"] = Field(description="read 读到了；none 没有文字或读不了；unread 还没读")

    @classmethod
    def from_text(cls, id: str, text: str, state: TextState) -> Self:
        return cls(id=id, text=text, state=TextState.READ.value if text else state.value)
