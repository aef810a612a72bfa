"""Pictures and files that customers and staff send each other."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, SecretStr


class AttachmentSettings(BaseModel):
    """Where they are kept, how large they may be, and what looks at them first."""

    attachment_store: str = Field(
        "",
        description="图片和文件存在哪里：留空为 DATA_DIR 下的 attachments；也可以是别的文件夹，"
        "或 fsspec 的地址，如 s3://桶/目录（要装 s3fs）；多个副本时须用共享的",
    )
    attachment_store_options: dict[str, SecretStr] = Field(
        {},
        description='存储的选项，写成 JSON，如 {"key": "…", "secret": "…", "endpoint_url": "https://…"}；'
        "各种存储的选项见 fsspec 的文档",
    )
    attachment_max_bytes: int = Field(
        10 * 1024 * 1024, ge=1024, le=100 * 1024 * 1024, description="单个图片或文件的字节上限"
    )
    attachments_per_conversation: int = Field(200, ge=1, le=10_000, description="一个会话最多有几个图片和文件")
    attachments_bytes_per_conversation: int = Field(
        200 * 1024 * 1024, ge=1024, description="一个会话的图片和文件合计的字节上限"
    )
    attachment_scanner: str = Field(
        "",
        description="收下之前用什么查毒：一条从标准输入读文件的命令（如 clamdscan --no-summary -，"
        "退出码 0 干净、1 有毒），clamd:// 地址（ClamAV 的守护进程），http(s):// 地址（2xx 干净、406 有毒），"
        "或 icap:// 地址；查不了就不收；留空则不查",
    )
    attachment_scan_timeout: float = Field(20.0, gt=0, le=300, description="查一个文件的秒数上限")
    attachment_ocr_seconds: int = Field(
        20, ge=0, le=600, description="识别一张图片里的文字最多占用的处理器秒数；0 不识别"
    )

    @property
    def attachment_options(self) -> dict[str, Any]:
        """Those of the store, as they are."""
        return {name: value.get_secret_value() for name, value in self.attachment_store_options.items()}
