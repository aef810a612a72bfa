"""The appearance of the widget on a company's site, its position, and its first words."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, Field, StrictBool, StrictInt

from app.auth.principal import Role
from app.http.deps import AdminTenant, TenantId, use_part
from app.http.fields import CLEANED, WHOLE
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.widget.repository import WidgetRepository

WidgetsDep = Annotated[WidgetRepository, use_part("widgets")]

router = APIRouter(prefix="/api/v1/widget", tags=["profile"], route_class=GuardedRoute)

# Length of the data URL: 44 kB of picture.
MAX_AVATAR_CHARS = 60_000
PICTURE_SIGNATURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/webp": b"RIFF"}
# How long a browser may show an earlier look.
CACHE_SECONDS = 60


def _check_picture(url: str) -> str:
    """Returns a data URL whose content has the named type, or the empty string. Raises ValueError."""
    if not url:
        return url
    head, found, data = url.partition(";base64,")
    beginning = PICTURE_SIGNATURES.get(head.removeprefix("data:"))
    try:
        content = base64.b64decode(data, validate=True)
    except binascii.Error:
        content = b""
    if not found or beginning is None or not content.startswith(beginning):
        raise ValueError("须是 PNG、JPEG 或 WebP 图片的 data: 地址")
    return url


Greeting = Annotated[str, CLEANED, Field(max_length=200)]


class ProactiveRule(RequestBody):
    """What the closed widget says by itself on some pages."""

    page: str = Field(
        min_length=1, max_length=200, pattern=r"^/[^\s?#]*$", description="网页的路径，* 代表任意一段，如 /pricing*"
    )
    seconds: Annotated[StrictInt, Field(ge=0, le=600), WHOLE] = Field(10, description="打开网页多少秒之后")
    message: Annotated[str, CLEANED, Field(min_length=1, max_length=200)] = Field(description="说什么")


class WidgetLookBody(RequestBody):
    """What is left out is as by default."""

    accent: str = Field("", pattern=r"^(#[0-9a-fA-F]{6})?$", description="主色，如 #1a56f0；留空用默认的蓝")
    avatar: Annotated[str, AfterValidator(_check_picture)] = Field(
        "", max_length=MAX_AVATAR_CHARS, description="头像：PNG、JPEG 或 WebP 的 data: 地址；留空用名字的首字"
    )
    position: Literal["right", "left"] = Field("right", description="贴在哪一边")
    language: Literal["auto", "zh", "en"] = Field("auto", description="界面语言；auto 随网页")
    label: Annotated[str, CLEANED, Field(max_length=20)] = Field("", description="按钮上的字；留空只有图标")
    greeting_zh: Greeting = Field("", description="中文开场白；留空用助手设定里的")
    greeting_en: Greeting = Field("", description="英文开场白；留空用助手设定里的")
    preview: StrictBool = Field(True, description="挂件收起时，新消息在按钮上方露出")
    sound: StrictBool = Field(False, description="挂件收起时，新消息响一声")
    proactive: list[ProactiveRule] = Field(default=[], max_length=10, description="主动打招呼的规则，先合的先用")


@router.get("")
async def read_widget(request: Request, tenant: TenantId, widgets: WidgetsDep, response: Response) -> WidgetLookBody:
    """How the widget looks; pages of the site ask for it."""
    visitors = request.state.principal.roles == {Role.CLIENT}
    response.headers["Cache-Control"] = f"private, max-age={CACHE_SECONDS}" if visitors else "no-store"
    response.headers["Vary"] = "Authorization, X-API-Key, Cookie, Origin"
    return WidgetLookBody.model_validate(await widgets.read_look(tenant))


@router.put("")
async def write_widget(body: WidgetLookBody, tenant: AdminTenant, widgets: WidgetsDep) -> WidgetLookBody:
    """Changes it: on the site within a minute, without touching the snippet."""
    await widgets.write_look(tenant, body.model_dump())
    return body
