"""A typed client of a Yingda customer-service server.

from yingda_client import Client

with Client("http://127.0.0.1:8000", key="…") as client:
    answer = client.chat("退货运费谁出")
    print(answer["reply"], answer["data"]["sources"])
"""

from .async_client import AsyncClient, AsyncConversation
from .calls import Call
from .errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    Unauthorized,
    Unavailable,
    YingdaError,
)
from .sync_client import Client, Conversation
from .version import __version__

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncConversation",
    "Call",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Conversation",
    "Forbidden",
    "InvalidRequest",
    "NotFound",
    "RateLimited",
    "Unauthorized",
    "Unavailable",
    "YingdaError",
    "__version__",
]
