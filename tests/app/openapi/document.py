"""The OpenAPI document as tests use it: by operation, and as a validator that takes no field that is not described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from app.main import create_app
from app.settings import Settings

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, with the references of its responses resolved."""

    name: str
    method: str
    path: str
    told: Mapping[str, Any]

    @property
    def request(self) -> Mapping[str, Any]:
        """Media type -> what is told of the body."""
        return dict(self.told.get("requestBody", {}).get("content", {}))

    def response(self, status: int | str) -> Mapping[str, Any]:
        """Media type -> what is told of the body."""
        told = self.told["responses"][str(status)]
        if "$ref" in told:
            told = document()["components"]["responses"][told["$ref"].rsplit("/", 1)[1]]
        return dict(told.get("content", {}))


@cache
def document() -> dict[str, Any]:
    """As it is served."""
    return create_app(Settings(_env_file=None, embedder="hash")).openapi()


@cache
def operations() -> Mapping[str, Operation]:
    """By their ids."""
    return {
        told["operationId"]: Operation(told["operationId"], method, path, told)
        for path, methods in document()["paths"].items()
        for method, told in methods.items()
    }


def data_of(told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the data of each event of a stream is; None for what is no stream."""
    item = told.get("itemSchema")
    if item is None:
        return None
    data = item["properties"]["data"]
    found: Mapping[str, Any] = data.get("anyOf", [data])[-1]["contentSchema"]
    return found


def problems(schema: Mapping[str, Any], value: Any) -> list[str]:
    """What of a value is not as its schema says; fields that are not described included."""
    whole = {"allOf": [_closed(schema)], "components": _components()}
    return [f"{error.json_path}: {error.message[:300]}" for error in Draft202012Validator(whole).iter_errors(value)]


@cache
def _components() -> Any:
    return {"schemas": _closed(document()["components"]["schemas"])}


def _closed(schema: Any) -> Any:
    """Models of inputs pass over what they do not know, which is nothing to learn from an example."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(item) for name, item in schema.items()}
    if isinstance(closed.get("properties"), dict) and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
