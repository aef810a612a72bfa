"""The OpenAPI document: what FastAPI finds out, completed by what it cannot know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, APIRouter
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.chat.turn_response import MEDIA_TYPE
from app.http.deps import AllowHolder
from app.http.failures import ErrorBody
from app.http.routes import allow_of
from app.openapi import failures, webhook_events
from app.openapi.completions import Completion, CompletionChunk, Model, ModelList
from app.openapi.events import ChatEvent
from app.openapi.examples import BodyExample, load_examples
from app.openapi.failures import OpenAIErrorBody

TAGS = {
    "chat": "对话：问一句，答一个 JSON，或以 SSE 逐步回答",
    "openai": "OpenAI 兼容接口",
    "conversations": "会话：历史、评价，以及顾客一侧的人工服务",
    "desk": "人工服务台：客服一侧",
    "traces": "每一轮是怎么答出来的",
    "keys": "密钥",
    "people": "成员：有自己账号的同事",
    "reports": "团队报表",
    "audit": "审计日志：管理员做了什么",
    "tickets": "工单",
    "documents": "知识库文档",
    "versions": "文档的版本：草稿、审核、发布与回滚",
    "corrections": "对片段的修正：改文字、改标题、停用",
    "search": "知识库检索：命中测试",
    "tuner": "检索调优：参数、校准与扫描",
    "vocabulary": "词表：产品名、同义词、简称、型号",
    "faqs": "精选问答：原样给顾客的回答",
    "quality": "知识库质量：重复、矛盾、过期等问题",
    "gaps": "知识缺口：没答上来的问题",
    "evaluation": "评测：评测集、运行与报告",
    "sources": "数据来源：网站与文件夹",
    "jobs": "定时任务",
    "profile": "助手设定",
    "models": "大模型：接入、测试与断开",
    "performance": "性能：耗时、缓存与用量",
    "observability": "可观测性：所依赖的服务",
    "webhooks": "Webhook：订阅事件",
    "channels": "渠道：微信、企业微信、飞书、钉钉等平台上的账号",
    "signin": "登录：本服务的网页",
    "health": "健康检查",
}
DESCRIPTION = """应答 Yingda 是中文优先的多智能体客服后端。

密钥放在请求头 `Authorization: Bearer 密钥` 或 `X-API-Key: 密钥` 里；没有配置密钥时只服务本机，不需要密钥。
每个响应都带 `X-Request-ID`，请求里带上自己的也可以。出错时看 `error.code`。"""
_MODELS: tuple[type[BaseModel], ...] = (
    ErrorBody,
    OpenAIErrorBody,
    ChatEvent,
    Completion,
    CompletionChunk,
    Model,
    ModelList,
)
_JSON = "application/json"
LAST = "[DONE]"
NO_NULL = r"^[^\u0000]*$"
_SCHEMA = "#/components/schemas/"
_HEADERS = {
    "X-Request-ID": ("这次请求的编号，查日志用", {"type": "string"}),
    "Idempotency-Replayed": ("true：这是同一个 Idempotency-Key 首次的结果", {"type": "string"}),
    "Location": ("导入任务的地址", {"type": "string"}),
    "Retry-After": ("多少秒之后再试", {"type": "integer"}),
    "WWW-Authenticate": ("出示密钥的方式", {"type": "string", "enum": ["Bearer"]}),
}
_PARAMETERS: Mapping[str, tuple[str, str, dict[str, str]]] = {
    "IdempotencyKey": (
        "Idempotency-Key",
        "这次请求自己的编号：24 小时内重发时带同一个，返回首次的结果",
        {"type": "string", "pattern": r"^[\x21-\x7e]{0,255}$"},
    ),
    "SessionToken": ("X-Session-Token", "会话凭据，首次响应中返回；client 密钥凭它使用会话", {"type": "string"}),
    "UserToken": ("X-User-Token", "用户身份：商家服务器签发的 JWT", {"type": "string"}),
}
# Operation -> the model of one event, and what the stream is.
_STREAMS: Mapping[str, tuple[str, str]] = {
    "chat_stream": ("ChatEvent", "SSE：meta、token、replace、handoff、ping，最后是 done 或 error"),
    "create_completion": ("CompletionChunk", "stream 为 true 时：SSE，每个事件的 data 是一块，以 [DONE] 结束"),
}
# Operation -> what it returns, where the endpoint writes its JSON by itself.
_ANSWERS = {"create_completion": "Completion", "list_models": "ModelList", "get_model": "Model"}


def build_document(app: FastAPI, routers: Iterable[APIRouter]) -> dict[str, Any]:
    """The description of everything that `routers` serve."""
    tags = [{"name": name, "description": text} for name, text in TAGS.items()]
    routers = list(routers)
    served = [route for router in routers for route in router.routes]
    made = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=served, tags=tags)
    known = load_examples()
    for route in _list_routes(routers):
        for method in route.methods or ():
            operation = made["paths"][route.path_format][method.lower()]
            _complete(operation, route, known.get(operation["operationId"], BodyExample()))
    _build_components(made["components"])
    made["webhooks"] = webhook_events.build_webhooks()
    return made


def _list_routes(routers: Iterable[APIRouter]) -> Iterator[APIRoute]:
    for router in routers:
        yield from (route for route in router.routes if isinstance(route, APIRoute) and route.include_in_schema)


def _complete(operation: dict[str, Any], route: APIRoute, example: BodyExample) -> None:
    name, responses = operation["operationId"], operation["responses"]
    own = {int(status) for status, told in route.responses.items() if "model" in told}
    # FastAPI describes errors by models of its own; those of this server look different.
    for status in [status for status in responses if int(status) >= 400 and int(status) not in own]:
        del responses[status]
    for status in sorted(failures.list_statuses(route) - own):
        responses[str(status)] = failures.build_reference(route, status)
    if model := _ANSWERS.get(name):
        responses["200"].setdefault("content", {})[_JSON] = {"schema": {"$ref": _SCHEMA + model}}
    if name in _STREAMS:
        _describe_stream(responses["200"], *_STREAMS[name])
    allow = allow_of(route.dependant)
    if allow is not None:
        operation["security"] = [{"ApiKey": []}, {"ApiKeyHeader": []}]
        if isinstance(allow, AllowHolder) or allow.turns or name in _TAKING_TOKENS:
            _take(operation, "SessionToken", "UserToken")
    if name in _ONCE:
        _take(operation, "IdempotencyKey")
    for parameter in operation.get("parameters", ()):
        if parameter.get("in") == "query":
            _forbid_null(parameter["schema"])
    _add_example(operation, example)


def _forbid_null(schema: dict[str, Any]) -> None:
    """What a null character stands in is no address: see `app.http.context`."""
    for kind in schema.get("anyOf", [schema]):
        if kind.get("type") == "string" and not kind.keys() & {"enum", "const", "format", "pattern"}:
            kind["pattern"] = NO_NULL
        elif kind.get("type") == "array":
            _forbid_null(kind["items"])


def _take(operation: dict[str, Any], *parameters: str) -> None:
    told = [{"$ref": f"#/components/parameters/{name}"} for name in parameters]
    operation["parameters"] = [*operation.get("parameters", []), *told]


# What may be sent again under the same key.
_ONCE = ("chat", "chat_stream", "open_ticket", "upload_documents")
# Operation -> what its responses carry besides.
_OWN_HEADERS = {name: ["Idempotency-Replayed"] for name in _ONCE} | {
    "upload_documents": ["Idempotency-Replayed", "Location"],
    "readiness": ["Retry-After"],
}
# What takes a session's proof besides turns and what needs one.
_TAKING_TOKENS = ("request_handoff", "stop_chat")


def _describe_stream(response: dict[str, Any], model: str, what: str) -> None:
    """The data of a stream's events is the model's."""
    data: dict[str, Any] = {"type": "string", "contentMediaType": _JSON, "contentSchema": {"$ref": _SCHEMA + model}}
    if model == "CompletionChunk":
        data = {"type": "string", "anyOf": [{"const": LAST}, {key: data[key] for key in data if key != "type"}]}
    event = {"type": "object", "properties": {"event": {"type": "string"}, "data": data}, "required": ["data"]}
    response["description"] = what
    response["content"] = {
        **{kind: told for kind, told in response.get("content", {}).items() if kind == _JSON and told},
        MEDIA_TYPE: {"schema": {"contentMediaType": MEDIA_TYPE}, "itemSchema": event},
    }


def _add_example(operation: dict[str, Any], example: BodyExample) -> None:
    if example.request is not None:
        for told in operation["requestBody"]["content"].values():
            told["example"] = example.request
    for status, response in operation["responses"].items():
        if "$ref" in response:
            continue
        headers = ["X-Request-ID", *_OWN_HEADERS.get(operation["operationId"], ())]
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}
        for kind, told in response.get("content", {}).items():
            if (body := example.get_response(status, kind)) is not None:
                told["example"] = body


def _build_components(components: dict[str, Any]) -> None:
    schemas = components["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    models = *_MODELS, *webhook_events.build_bodies().values()
    _, made = models_json_schema([(model, "serialization") for model in models], ref_template=_SCHEMA + "{model}")
    components["schemas"] = dict(sorted((made["$defs"] | schemas).items()))
    components["responses"] = dict(failures.build_components())
    components["headers"] = {name: {"description": text, "schema": schema} for name, (text, schema) in _HEADERS.items()}
    components["parameters"] = {
        name: {"name": header, "in": "header", "description": text, "required": False, "schema": schema}
        for name, (header, text, schema) in _PARAMETERS.items()
    }
    components["securitySchemes"]["ApiKeyHeader"] = {"type": "apiKey", "in": "header", "name": "X-API-Key"}
