"""How much anybody may ask for."""

from __future__ import annotations

from pydantic import BaseModel, Field


class LimitSettings(BaseModel):
    """0 is no limit. Without any key nothing is counted, only places are given out in turn."""

    rate_per_key: int = Field(6000, ge=0, description="一个密钥每分钟的请求数上限；0 为不限")
    rate_per_server_key: int = Field(
        12_000, ge=0, description="一个 server 密钥每分钟的请求数上限，它代所有顾客说话；0 为不限"
    )
    rate_per_tenant: int = Field(24_000, ge=0, description="一个租户每分钟的请求数上限；0 为不限")
    rate_per_address: int = Field(
        600, ge=0, description="带 client 密钥的一个来源地址（IPv6 按 /64）每分钟的请求数上限；0 为不限"
    )
    rate_per_session: int = Field(120, ge=0, description="一个会话每分钟的请求数上限，客服的请求不算；0 为不限")
    sign_in_failures: int = Field(
        30, ge=0, description="一个来源地址每分钟可以出错的密钥与 user_token 次数，超出后出错的一律缓答 429；0 为不限"
    )
    handoffs_per_customer: int = Field(10, ge=0, description="一位顾客每小时请求人工的次数上限，紧急的另计；0 为不限")
    handoffs_per_address: int = Field(
        60, ge=0, description="带 client 密钥的一个来源地址每小时请求人工的次数上限，紧急的另计；0 为不限"
    )
    tickets_per_customer: int = Field(10, ge=0, description="一位顾客每小时在对话里登记的工单上限；0 为不限")
    tickets_per_address: int = Field(
        60, ge=0, description="带 client 密钥的一个来源地址每小时在对话里登记的工单上限；0 为不限"
    )
    turn_slots: int = Field(
        0,
        ge=0,
        le=1024,
        description="一个租户同时计算几轮回答，另有一个位子留给别的租户，其余排队；等大模型的不占位；"
        "0 为处理器的核数加一，但不多于能同时算的向量；一台机器上有几个进程时，写核数除以进程数",
    )
    turn_wait: float = Field(15.0, gt=0, le=120, description="一轮回答最多排队几秒，超过则 503")
    turns_per_key: int = Field(192, ge=0, description="一个密钥同时进行的轮数上限，排队的也算，超出则 503；0 为不限")
    turns_per_tenant: int = Field(256, ge=0, description="一个租户同时进行的轮数上限，排队的也算，超出则 503；0 为不限")
    streams_per_key: int = Field(160, ge=0, description="一个密钥同时打开的流（SSE）上限，超出则 429；0 为不限")
    streams_per_address: int = Field(
        40, ge=0, description="带 client 密钥的一个来源地址同时打开的流（SSE）上限，超出则 429；0 为不限"
    )
    sockets_per_key: int = Field(
        2000, ge=0, description="一个密钥同时打开的 WebSocket 上限，超出则以 1013 关闭；0 为不限"
    )
    sockets_per_address: int = Field(
        100, ge=0, description="带 client 密钥的一个来源地址同时打开的 WebSocket 上限，超出则以 1013 关闭；0 为不限"
    )
