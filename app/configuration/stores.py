"""Where indexes are kept."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator


class StoreSettings(BaseModel):
    """The embedded default needs no server."""

    vector_store: Literal["chroma", "memory", "milvus"] = Field("chroma", description="向量库")
    chroma_url: str = Field(
        "",
        pattern=r"^(https?://[^/\s?#@]+/?)?$",
        description="Chroma 服务器的地址，如 http://127.0.0.1:8100，几个进程共用；留空则用各进程自带的 Chroma",
    )
    milvus_uri: SecretStr = Field(
        SecretStr(""),
        description="Milvus 单机或集群的地址，VECTOR_STORE=milvus 时用，如 http://user:password@127.0.0.1:19530；"
        "留空则用 Milvus Lite，即 DATA_DIR 里的一个文件",
    )
    exact_search_max_chunks: int = Field(20_000, ge=0, description="片段不超过它时向量召回精确计算，更多时用 HNSW")

    @field_validator("milvus_uri")
    @classmethod
    def _check_milvus_uri(cls, value: SecretStr) -> SecretStr:
        if not re.fullmatch(r"(https?://[^\s?#]+)?", value.get_secret_value()):
            raise ValueError("MILVUS_URI 应为 http:// 或 https:// 开头的地址；用 Milvus Lite 时留空")
        return value

    @property
    def vector_server(self) -> str:
        """The address of the vector store's server; empty where the store is the process's own."""
        return {"chroma": self.chroma_url, "milvus": self.milvus_uri.get_secret_value()}.get(self.vector_store, "")
