"""The one module that reads the environment.

Every field is an environment variable of the same name in capitals; `.env` in the working directory is read too.
An empty value is the default. Unknown keys in `.env`, impossible values and impossible combinations fail at start,
naming variable and fix.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from app.configuration.attachments import AttachmentSettings
from app.configuration.business import BusinessSettings
from app.configuration.channels import ChannelSettings
from app.configuration.encoders import EncoderSettings
from app.configuration.identity import IdentitySettings
from app.configuration.limits import LimitSettings
from app.configuration.mcp import McpSettings
from app.configuration.models import ModelSettings
from app.configuration.observability import ObservabilitySettings
from app.configuration.redis import RedisSettings
from app.configuration.service_keys import ServiceKey
from app.configuration.sources import PORTS, SourceSettings
from app.configuration.stores import StoreSettings
from app.configuration.web import WebSettings
from app.log_file import LogFile
from app.net.targets import parse_port_ranges
from app.problems import describe_setting
from knowledge.errors import InvalidConfiguration

Probability = float
Days = Annotated[int, Field(ge=0, le=36500)]
_KEY = re.compile(r"[\x21-\x7e]+")
MIN_KEY_CHARS = 16
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]")
_PLACEHOLDERS = frozenset({"changeme", "change-me", "change_me", "your-api-key", "your_api_key", "replace-me"})


class Settings(
    AttachmentSettings,
    WebSettings,
    IdentitySettings,
    LimitSettings,
    RedisSettings,
    BusinessSettings,
    ChannelSettings,
    McpSettings,
    SourceSettings,
    StoreSettings,
    EncoderSettings,
    ModelSettings,
    ObservabilitySettings,
    BaseSettings,
):
    """All settings of the product; defaults are those of a laptop without key, GPU or server.

    Those of some features stand in their folders.
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    # Server
    host: str = Field("127.0.0.1", description="监听地址")
    port: int = Field(8000, ge=0, le=65535, description="监听端口")
    data_dir: Path = Field(Path("data"), description="全部状态所在目录：数据库、索引、向量缓存")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="日志级别")
    log_file: Path | None = Field(None, description="日志文件的路径；留空则写到标准错误")
    log_rotation_mb: int = Field(100, ge=1, le=10_000, description="日志文件到这么大（MB）或过了一天就另起一个")
    log_retention_days: Days = Field(30, description="旧日志文件保留的天数；0 为不删")
    samples_enabled: bool = Field(True, description="首次启动时是否导入示例知识库")
    api_key: SecretStr = Field(
        SecretStr(""), description="首个管理员密钥；留空则只允许监听本机，且本机请求拥有全部角色"
    )

    allowed_hosts: str = Field(
        "",
        description="除本机的名字外，还接受哪些主机名的请求，逗号分隔，端口不限，*.example.com 表示其下各级；"
        "留空时：有密钥则不限主机名，没有密钥则只认本机的名字",
    )
    trusted_proxies: str = Field(
        "", description="反向代理的地址或网段，逗号分隔：只采信它们的 X-Forwarded-For；留空则谁的都不信"
    )
    api_docs_enabled: Literal["auto", "true", "false"] = Field(
        "auto", description="是否开放 /docs 与 /openapi.json；auto：只在没有密钥、只供本机时开放"
    )
    max_body_bytes: int = Field(
        512 * 1024, ge=16 * 1024, le=10_000_000, description="请求体的字节上限；上传文档按 MAX_UPLOAD_BYTES 另算"
    )
    max_connections: int = Field(
        4000, ge=16, le=60_000, description="同时的连接数上限；满了先断开没有在处理请求的，再满则返回 503，健康检查除外"
    )
    head_timeout: float = Field(10.0, gt=0, le=300, description="等请求头收全、等 WebSocket 带密钥的第一帧的秒数")
    body_timeout: float = Field(
        20.0, gt=0, le=300, description="等一个请求体收全的秒数，另按每秒 4 KB 给较大的请求体加时"
    )
    keep_alive_timeout: float = Field(15.0, gt=0, le=300, description="空闲的长连接保留的秒数")

    # Database
    database_url: str = Field("", description="SQLAlchemy 异步地址；留空则使用 DATA_DIR 下的 SQLite")
    turn_durability: Literal["fast", "full"] = Field(
        "fast", description="SQLite 上一轮对话怎样落盘：fast 不等磁盘，断电可能丢最后几轮；full 每次提交都等磁盘"
    )

    # Retention: days, 0 keeps for ever; a tenant may have its own
    retention_conversations_days: Days = Field(
        0, description="会话最后一次活动多少天后删除，连同由它产生的数据；0 为不删"
    )
    retention_attachments_days: Days = Field(
        0, description="对话里的图片和文件多少天后删除，消息里只留下文件名；0 则随会话删除"
    )
    retention_tickets_days: Days = Field(0, description="已解决或关闭的工单多少天没有变化后删除；0 为不删")
    retention_solutions_days: Days = Field(0, description="审核过的人工方案多少天没有变化后删除；0 为不删")
    retention_gaps_days: Days = Field(0, description="知识缺口多少天没有人再问后删除；0 为不删")
    retention_usage_days: Days = Field(0, description="每日用量计数保留的天数；0 为不删")
    retention_deliveries_days: Days = Field(30, description="Webhook 投递记录与一直失败的后台任务保留的天数；0 为不删")
    retention_versions_days: Days = Field(0, description="文档的旧版本被取代多少天后删除；0 为不删")
    retention_bin_days: Days = Field(30, description="删除的文档在回收站里保留的天数，之后彻底删除；0 为不自动删")
    retention_jobs_days: Days = Field(30, description="导入任务结束多少天后删除其记录，文档不受影响；0 为不删")
    retention_evaluations_days: Days = Field(0, description="评测报告多少天后删除；0 为不删")
    retention_requests_days: int = Field(
        1, ge=1, description="带 Idempotency-Key 的请求及其结果保留的天数；重发只在 24 小时内返回首次的结果"
    )
    retention_keys_days: Days = Field(0, description="密钥停用或到期多少天后删除；0 为不删")
    retention_audit_days: Days = Field(0, description="审计日志保留的天数；0 为不删")
    retention_embeddings_days: Days = Field(0, description="缓存的向量多少天没有用到后删除，不分租户；0 为不删")

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

    page_boost: float = Field(
        0.15, ge=0, le=1, description="用户所在页面和讲同一商品的文档在排序中的加分；不会让片段越过门槛"
    )

    calibration_set: Path | None = Field(
        None, description="标注问题的 JSONL 路径，每行 text 与 answerable，用来校准门槛；留空则自动校准"
    )

    # Chunking and ingestion
    chunk_min_tokens: int = Field(50, ge=1, description="片段最少 token 数")
    chunk_max_tokens: int = Field(300, ge=20, description="片段最多 token 数")
    chunk_overlap_tokens: int = Field(50, ge=0, description="相邻片段重叠的 token 数")
    max_upload_bytes: int = Field(20 * 1024 * 1024, ge=1024, description="单个文件的字节上限")
    upload_wait: float = Field(
        2.0, ge=0, le=60, description="上传文档时最多等几秒：到时都能检索了就返回 201，否则返回 202 和后台任务"
    )
    parse_workers: int = Field(
        4, ge=1, le=32, description="最多几个进程同时解析文件；一个租户最多占用其中一半（至少一个）"
    )
    parse_max_memory_mb: int = Field(
        1024, ge=64, le=16384, description="解析一个文件最多占用的内存（MB，Linux 上有效），超过即停止并拒绝该文件"
    )
    parse_max_seconds: int = Field(
        60, ge=1, le=3600, description="解析一个文件最多占用的处理器秒数，超过即停止并拒绝该文件；总时长不超过它的三倍"
    )
    ocr_max_pages: int = Field(
        100, ge=0, le=2000, description="一个文件最多对几页图片或扫描页做文字识别，超过即拒绝；0 不做文字识别"
    )
    ocr_max_seconds: int = Field(
        600, ge=1, le=36000, description="对一个文件做文字识别最多占用的处理器秒数；总时长不超过它的三倍"
    )

    soffice_path: str = Field(
        "soffice", min_length=1, description="LibreOffice 的 `soffice` 在哪里：命令名或路径；旧版 Office 文件由它转换"
    )
    soffice_max_seconds: int = Field(
        120, ge=1, le=3600, description="转换一个旧版 Office 文件最多用几秒，超过即停止并拒绝该文件"
    )

    # Answer
    max_source_count: int = Field(3, ge=1, le=10, description="引用来源的条数上限")
    max_message_chars: int = Field(2000, ge=10, le=20000, description="单条消息的字数上限")
    max_chunk_chars: int = Field(800, ge=100, le=8000, description="提示词中每个片段的字数上限")
    fallback_script: str = Field("抱歉，知识库中未找到相关内容。", min_length=1, description="兜底话术")
    history_turns: int = Field(6, ge=0, le=50, description="大模型回看的轮数；0 则每句话单独理解")

    # Language models; without LLM_API_KEY, or a local one, answers are quoted from the knowledge base
    llm_provider: Literal["openai", "gguf"] = Field(
        "openai", description="大模型：openai 为接口，gguf 为本机的一个 GGUF 文件"
    )
    llm_local_model: str = Field("", description="本机对话（Instruct）模型的 GGUF 文件；LLM_PROVIDER=gguf 时必填")
    llm_local_threads: int = Field(
        0, ge=0, le=1024, description="本机模型用几个线程；0 则在装载时看有几个核空着，就用几个"
    )
    llm_local_queue: int = Field(
        8, ge=0, le=1000, description="本机模型同时算几个请求之外，最多还有几个排队；再多的不等"
    )
    llm_api_key: ServiceKey = Field(SecretStr(""), description="大模型密钥；留空则不用大模型，回答摘自知识库原文")
    llm_first_token_timeout: float = Field(
        10.0, gt=0, le=300, description="等待首个 token（各家大模型合计）、以及相邻两个 token 之间的秒数上限"
    )
    llm_timeout: float = Field(60.0, gt=0, le=600, description="一次生成的总秒数上限，含重试与换家")
    llm_retries: int = Field(1, ge=0, le=5, description="首个 token 之前失败时的重试次数")
    llm_max_tokens: int = Field(1024, ge=16, le=32768, description="一次回答的 token 上限")
    small_llm_base_url: str = Field("", description="读懂消息、复读回答所用小模型的接口地址；留空则同 LLM_BASE_URL")
    small_llm_api_key: ServiceKey = Field(
        SecretStr(""), description="小模型的密钥；留空则同 LLM_API_KEY，LLM_PROVIDER=gguf 时则由本机模型来做"
    )
    small_llm_model: str = Field("", description="小模型的名称；留空则同 LLM_MODEL")
    rewrite_enabled: bool = Field(True, description="配置了大模型时，是否请它读懂消息：补全、拆问、判断意图")
    rewrite_timeout: float = Field(1.5, gt=0, le=60, description="大模型读懂一条消息的秒数上限，超时则不用它")

    reader_enabled: bool = Field(
        True, description="配置了大模型时，是否请它看最靠前的几段资料里有没有写明答案；分不清或太慢的模型不会被请"
    )
    reader_model: str = Field(
        "", description="看资料的大模型的名称，接口同小模型，或一个 .gguf 文件，由本机来看；留空则同小模型"
    )
    reader_passages: int = Field(3, ge=1, le=10, description="请大模型看最靠前的几段，同时问，每段一个 token")
    reader_timeout: float = Field(2.0, gt=0, le=60, description="看资料的秒数上限；超时按检索本身的把握作答")

    # Human desk
    answer_while_queued: bool = Field(
        True, description="顾客排队等人工时，智能客服是否继续回答；false 则把消息存下来，只等客服"
    )
    desk_response_minutes: float = Field(
        5.0, gt=0, le=1440, description="客服首次响应的时限（分钟），团队报表按它算按时响应的比例"
    )
    desk_release_minutes: float = Field(
        15.0, gt=0, description="客服多少分钟没有露面且没有回复时，会话退回队列重新安排"
    )
    desk_idle_hours: float = Field(24.0, gt=0, description="人工会话多少小时没有新消息时自动结束")

    # Care, tickets, webhooks
    emotion_threshold: Probability = Field(
        0.7, ge=0, le=1, description="愤怒或绝望的分值达到它时优先转人工；1 几乎不触发"
    )
    ticket_urgent_hours: float = Field(4.0, gt=0, description="紧急工单的解决时限（小时）；首次响应时限为它的六分之一")
    ticket_high_hours: float = Field(12.0, gt=0, description="高优先级工单的解决时限（小时）")
    ticket_normal_hours: float = Field(48.0, gt=0, description="普通工单的解决时限（小时）")
    ticket_low_hours: float = Field(120.0, gt=0, description="低优先级工单的解决时限（小时）")
    webhook_allow_private: bool = Field(False, description="是否允许 Webhook 指向本机和内网地址")
    webhook_ports: str = Field(
        PORTS, description="Webhook 指向公网时允许的端口，逗号分隔，可写成 8000-9999 这样的一段；留空则不限"
    )
    webhook_timeout: float = Field(10.0, gt=0, le=60, description="一次 Webhook 投递的秒数上限")
    webhooks_per_tenant: int = Field(20, ge=1, le=1000, description="一个租户最多有几个 Webhook")
    webhook_max_attempts: int = Field(10, ge=1, le=20, description="一次 Webhook 投递最多尝试几次")

    # Who the customer is
    session_token_hours: float = Field(
        168.0, gt=0, le=87_600, description="会话凭据 session_token 最后一次使用之后多少小时内有效"
    )
    sign_in_idle_hours: float = Field(12.0, gt=0, le=720, description="员工登录后多少小时没有操作就退出")
    sign_in_hours: float = Field(168.0, gt=0, le=8760, description="员工登录一次最多多少小时，到时须重新登录")

    # Checking what a model wrote
    verify_enabled: bool = Field(True, description="大模型写的回答是否由小模型再读一遍；关闭后只做不用模型的校验")
    verify_timeout: float = Field(8.0, gt=0, le=60, description="复读一次的秒数上限")
    min_quality: int = Field(80, ge=0, le=100, description="回答质量低于它时附上人工客服")
    min_relevance: float = Field(0.8, ge=0, le=1, description="回答相关度低于它时附上人工客服")

    # The quality check of the knowledge base
    quality_sensitive_words: str = Field(
        "仅供内部,内部资料,内部使用,请勿外传,严禁外传,机密,国家级,全网最低,百分百有效",
        description="质量检查里的敏感词，以逗号分隔：不该给顾客看的字样，以及广告法不许用的说法；留空为不查",
    )

    secrets_key: SecretStr = Field(
        SecretStr(""),
        description="加密控制台里保存的大模型密钥用的口令，几台服务要相同；留空则自己生成，放在 DATA_DIR/secrets.key",
    )

    # Caches
    hot_cache_max_size: int = Field(1000, ge=0, le=1_000_000, description="热点问答缓存的条数；0 为关闭")
    hot_cache_ttl: float = Field(300.0, gt=0, description="热点问答缓存的秒数")
    retrieval_cache_max_size: int = Field(2000, ge=0, le=100_000, description="一个租户检索结果缓存的条数；0 为关闭")
    retrieval_cache_ttl: float = Field(1800.0, ge=0, description="检索结果缓存的秒数；0 为关闭")

    @field_validator("api_key")
    @classmethod
    def _check_api_key(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value()
        if key and not _KEY.fullmatch(key):
            raise ValueError("API_KEY 只能用英文字母、数字和半角符号，不能有空格，否则放不进请求头")
        if key.lower() in _PLACEHOLDERS:
            raise ValueError("API_KEY 是示例值，谁都猜得到，请换成随机生成的密钥")
        if key and len(key) < MIN_KEY_CHARS:
            raise ValueError(
                f"API_KEY 太短，会被猜出来：至少 {MIN_KEY_CHARS} 个字符，"
                '可用 python -c "import secrets; print(secrets.token_urlsafe(32))" 生成'
            )
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _check_host_names(cls, value: str) -> str:
        if wrong := next((host for host in split_list(value) if not _HOST.fullmatch(host)), None):
            raise ValueError(f"ALLOWED_HOSTS 里的 {wrong} 不是主机名：不带协议、端口与路径，例如 kefu.example.com")
        return value

    @field_validator("webhook_ports")
    @classmethod
    def _check_port_ranges(cls, value: str) -> str:
        parse_port_ranges(value)
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, value: str) -> str:
        for network in split_list(value):
            try:
                ipaddress.ip_network(network)
            except ValueError as error:
                raise ValueError(f"TRUSTED_PROXIES 里的 {network} 不是地址或网段，例如 10.0.0.5,10.1.0.0/16") from error
        return value

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        if self.rrf_vector_weight + self.rrf_keyword_weight <= 0:
            raise ValueError("RRF_VECTOR_WEIGHT 与 RRF_KEYWORD_WEIGHT 不能同时为 0，请至少给一路正的权重")
        if not self.clarify_threshold <= self.similarity_threshold <= self.confident_threshold:
            raise ValueError(
                "须满足 CLARIFY_THRESHOLD <= SIMILARITY_THRESHOLD <= CONFIDENT_THRESHOLD，"
                f"现为 {self.clarify_threshold}、{self.similarity_threshold}、{self.confident_threshold}"
            )
        if self.llm_provider == "gguf" and not self.llm_local_model:
            raise ValueError("LLM_PROVIDER=gguf 时须设置 LLM_LOCAL_MODEL，即模型的 GGUF 文件")
        if not self.chunk_min_tokens <= self.chunk_max_tokens or self.chunk_overlap_tokens >= self.chunk_max_tokens:
            raise ValueError("须满足 CHUNK_MIN_TOKENS <= CHUNK_MAX_TOKENS 且 CHUNK_OVERLAP_TOKENS < CHUNK_MAX_TOKENS")
        return self

    @property
    def log(self) -> LogFile | None:
        """The log file, if any."""
        if self.log_file is None:
            return None
        return LogFile(self.log_file, self.log_rotation_mb * 1_000_000, self.log_retention_days)

    @property
    def retention_days(self) -> dict[str, int]:
        """Kind of data -> how many days it is kept."""
        pattern = re.compile(r"retention_(\w+)_days")
        return {found[1]: getattr(self, name) for name in type(self).model_fields if (found := pattern.fullmatch(name))}

    @property
    def sql_url(self) -> str:
        """The database address in force."""
        return self.database_url or f"sqlite+aiosqlite:///{(self.data_dir / 'yingda.sqlite3').as_posix()}"


def split_list(value: str) -> tuple[str, ...]:
    """The items of a setting that holds several, separated by commas."""
    return tuple(item for part in value.split(",") if (item := part.strip()))


def load_settings() -> Settings:
    """Reads environment and `.env`. Raises InvalidConfiguration with one line per wrong variable."""
    try:
        return Settings()
    except ValidationError as error:
        problems = "\n".join(describe_setting(item, Settings) for item in error.errors())
        raise InvalidConfiguration(f"配置有误：\n{problems}") from error
    except SettingsError as error:
        name = next((name.upper() for name in Settings.model_fields if f'"{name}"' in str(error)), "配置")
        raise InvalidConfiguration(f"配置有误：\n{name}：不是合法的 JSON") from error
