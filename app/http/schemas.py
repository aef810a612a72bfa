"""What bodies of requests and responses have in common."""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class RequestBody(BaseModel):
    """A body that refuses fields which it does not have."""

    model_config = ConfigDict(extra="forbid")


class ResponseBody(BaseModel):
    """A body that can be made of anything whose attributes are called as its fields."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def build_from(cls, source: object, **values: Any) -> Self:
        """Builds it of the attributes of the same names.

        Args:
            source: What has the attributes.
            values: Fields that `source` does not have, or has otherwise.
        """
        same = {name: getattr(source, name) for name in cls.model_fields if name not in values}
        return cls.model_validate(same | values, from_attributes=True)


class Page(ResponseBody, Generic[Item]):
    """Some items of a list, and how many there are in all."""

    items: list[Item]
    total: int
    offset: int
    limit: int
