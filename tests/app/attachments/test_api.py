from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from app.auth.principal import Role
from app.keys.service import create_key, hash_key
from app.types import SessionKey
from tests.app.attachments.pictures import PDF, SVG, huge_png, jpeg, office, png
from tests.app.desk.client import talking
from tests.app.serving import Served, served

ADMIN = "yd-0123456789abcdef0123456789abcdef"
CHAT, CONVERSATIONS, DESK = "/api/v1/chat", "/api/v1/conversations", "/api/v1/agent/sessions"
NAMES = (
    "../../etc/passwd.png",
    "..\\..\\boot.png",
    'a"; filename="b.html.png',
    "a\r\nX-Injected: 1.png",
    "<img src=x onerror=alert(1)>.png",
    "\u202egnp.exe.png",
    "\0.png",
    "长" * 300 + ".png",
    ".png",
    "//",
)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    options = {"attachment_max_bytes": 2**20, "attachments_per_conversation": 12, "attachment_ocr_seconds": 0}
    async with served(tmp_path, _env_file=None, api_key=ADMIN, **options) as running:
        await running.container.startup.ready.wait()
        yield running


async def caller(server: Served, role: Role, tenant: str = "default") -> httpx.AsyncClient:
    key = create_key()
    await server.container.key_management.repository.create(tenant, role, "test", hash_key(key))
    server.container.keys.expire_copy()
    return httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": key}, timeout=60)


async def begun(http: httpx.AsyncClient) -> str:
    """A conversation whose secret the client shows from now on."""
    opened = (await http.post(CHAT, json={"message": "你好"})).json()
    http.headers["X-Session-Token"] = opened["session_token"]
    return str(opened["session_id"])


async def upload(
    http: httpx.AsyncClient, session: str, content: bytes, name: str = "照片.jpg", base: str = CONVERSATIONS
) -> httpx.Response:
    return await http.post(f"{base}/{session}/attachments", files={"file": (name, content)})


async def test_a_picture_goes_with_a_message_and_is_served_so_that_nothing_runs(server: Served) -> None:
    async with await caller(server, Role.CLIENT) as http, await caller(server, Role.AGENT) as staff:
        session = await begun(http)
        sent = (await upload(http, session, jpeg(place="家里"))).json()
        assert (sent["name"], sent["media_type"], sent["width"]) == ("照片.jpg", "image/jpeg", 480)
        done = (await http.post(CHAT, json={"message": "", "session_id": session, "attachments": [sent["id"]]})).json()
        assert done["outcome"] == "answered" and "图片收到了" in done["reply"]

        shown = await http.get(f"{CONVERSATIONS}/{session}/attachments/{sent['id']}")
        assert shown.headers["content-type"] == "image/jpeg"
        assert shown.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert shown.headers["x-content-type-options"] == "nosniff"
        assert not Image.open(io.BytesIO(shown.content)).getexif()
        for reader, path in ((http, f"{CONVERSATIONS}/{session}/history"), (staff, f"{CONVERSATIONS}/{session}")):
            said = (await reader.get(path)).json()["entries"][2]
            assert (said["text"], said["attachments"]) == ("[图片]", [sent])


async def test_files_are_saved_and_never_shown(server: Served) -> None:
    async with await caller(server, Role.CLIENT) as http:
        session = await begun(http)
        sent = (await upload(http, session, PDF, "发票 一.pdf")).json()
        shown = await http.get(f"{CONVERSATIONS}/{session}/attachments/{sent['id']}")
        assert shown.content == PDF
        assert shown.headers["content-disposition"].startswith("attachment; filename*=UTF-8''%E5%8F%91")


async def test_what_may_not_be_sent_is_refused_with_a_reason(server: Served) -> None:
    async with await caller(server, Role.CLIENT) as http:
        session = await begun(http)
        for name, content, status in (
            ("a.svg", SVG, 415),
            ("a.png", SVG, 415),
            ("page.html", b"<html></html>", 415),
            ("bomb.png", huge_png(40_000, 40_000), 400),
            ("bomb.docx", office(size=210 * 2**20), 400),
            ("a.pdf", jpeg(), 422),
            ("a.jpg", b"", 422),
            ("a.jpg", bytes(2**20 + 1), 413),
        ):
            refused = await upload(http, session, content, name)
            assert refused.status_code == status, (name, refused.text)
            assert refused.json()["error"]["message"]
        assert (await http.post(f"{CONVERSATIONS}/{session}/attachments", json={})).status_code == 400


async def test_names_of_files_are_text_and_nothing_else(server: Served) -> None:
    async with await caller(server, Role.CLIENT) as http:
        session = await begun(http)
        for name in NAMES:
            sent = await upload(http, session, png(), name)
            assert sent.status_code == 201, sent.text
            told = sent.json()["name"]
            assert not set(told) & set("/\\\r\n\0\u202e") and told.endswith(".png") and len(told) <= 124
            shown = await http.get(f"{CONVERSATIONS}/{session}/attachments/{sent.json()['id']}")
            assert "x-injected" not in shown.headers and '"' not in shown.headers["content-disposition"]
    kept = [path for path in (server.container.settings.data_dir / "attachments").rglob("*") if path.is_file()]
    assert len(kept) == len(NAMES) and all(len(path.name) == 32 for path in kept)


async def test_attachments_belong_to_their_conversation_their_side_and_their_tenant(server: Served) -> None:
    async with (
        await caller(server, Role.CLIENT) as http,
        await caller(server, Role.CLIENT) as thief,
        await caller(server, Role.CLIENT, "other") as foreign,
        await caller(server, Role.AGENT, "other") as foreign_staff,
        await caller(server, Role.AGENT) as staff,
    ):
        session, own, elsewhere = await begun(http), await begun(thief), await begun(foreign)
        sent = (await upload(http, session, png())).json()["id"]
        place = f"{CONVERSATIONS}/{session}/attachments/{sent}"
        assert (await thief.get(place)).status_code == 403
        assert (await upload(thief, session, png())).status_code == 403
        assert (await thief.get(f"{CONVERSATIONS}/{own}/attachments/{sent}")).status_code == 404
        stolen = {"message": "看看", "session_id": own, "attachments": [sent]}
        assert (await thief.post(CHAT, json=stolen)).json()["error"]["code"] == "attachment_not_found"
        for other in (foreign, foreign_staff):
            assert (await other.get(place)).status_code == 404
            assert (await other.get(f"{CONVERSATIONS}/{elsewhere}/attachments/{sent}")).status_code == 404
        assert (await foreign_staff.delete(place)).status_code == 404
        for role_bound in ((http.delete(place)), http.get(f"{place}/text"), upload(http, session, png(), base=DESK)):
            assert (await role_bound).status_code == 403
        of_staff = (await upload(staff, session, png(), base=DESK)).json()["id"]
        theirs = {"message": "", "session_id": session, "attachments": [of_staff]}
        assert (await http.post(CHAT, json=theirs)).json()["error"]["code"] == "attachment_not_found"
        assert (await upload(staff, "nowhere", png(), base=DESK)).status_code == 404
        async with httpx.AsyncClient(base_url=server.address) as nobody:
            assert (await nobody.get(place)).status_code == 401


async def test_a_conversation_takes_so_many_and_a_message_nine(server: Served) -> None:
    async with await caller(server, Role.CLIENT) as http:
        session = await begun(http)
        ids = [(await upload(http, session, png())).json()["id"] for _ in range(12)]
        assert (await upload(http, session, png())).json()["error"]["code"] == "too_many_attachments"
        body: dict[str, Any] = {"message": "x", "session_id": session, "attachments": ids[:10]}
        assert (await http.post(CHAT, json=body)).status_code == 422


async def test_staff_and_customer_send_each_other_pictures_and_see_each_other_type(server: Served) -> None:
    agent = await caller(server, Role.AGENT)
    async with await caller(server, Role.CLIENT) as http, agent as staff:
        session = await begun(http)
        keys = [dict(client.headers) for client in (http, staff)]
        await http.post(f"{CONVERSATIONS}/{session}/handoff", json={})
        async with (
            talking(server.address, f"{CONVERSATIONS}/{session}/ws?after=0", additional_headers=_auth(keys[0])) as one,
            talking(server.address, "/api/v1/agent/ws?agent_id=amy&after=0", additional_headers=_auth(keys[1])) as two,
        ):
            await two.until(lambda frame: frame["type"] == "queue" and bool(frame["sessions"]))
            await two.send("accept", session_id=session)
            await one.until(lambda frame: frame["type"] == "handoff" and frame["state"] == "assigned")
            await two.until(lambda frame: frame["type"] == "session")
            await one.send("typing")
            await one.send("typing")
            assert (await two.until(lambda frame: frame["type"] == "typing"))["session_id"] == session
            await two.send("typing", session_id=session)
            await one.until(lambda frame: frame["type"] == "typing")

            sent = (await upload(staff, session, jpeg(), "线路图.jpg", DESK)).json()
            await two.send("message", session_id=session, content="", attachments=[sent["id"]], id="m1")
            message = await one.until(lambda frame: frame["type"] == "message" and frame["sender"] == "agent")
            assert (message["content"], message["attachments"]) == ("[图片]", [sent])
            assert (await http.get(f"{CONVERSATIONS}/{session}/attachments/{sent['id']}")).status_code == 200
            await one.send("seen", seq=message["seq"])
            seen = await two.until(lambda frame: frame["type"] == "seen")
            assert seen["seq"] == message["seq"]
            assert (await staff.get(f"{DESK}/{session}")).json()["customer_seen"] == message["seq"]

            own = (await upload(http, session, png(), "截图.png")).json()
            await one.send("message", content="就是这里", attachments=[own["id"]], id="c1")
            said = await two.until(lambda frame: frame.get("content") == "就是这里")
            assert said["attachments"] == [own]
            await two.send("seen", session_id=session, seq=said["seq"])
            assert (await one.until(lambda frame: frame["type"] == "seen"))["seq"] == said["seq"]
            await asyncio.sleep(0.2)
            assert len(two.of("typing")) == 1
            await one.send("seen", seq=10**6)
            last = await two.until(lambda frame: frame["type"] == "seen" and frame["seq"] > message["seq"])
            assert last["seq"] == said["seq"]
    assert (await server.container.desk.messages.load_after(SessionKey("default", session), 0))[-1].seq == said["seq"]


async def test_erasing_a_conversation_or_one_picture_reaches_the_files(server: Served) -> None:
    files = server.container.settings.data_dir / "attachments"
    async with await caller(server, Role.CLIENT) as http, await caller(server, Role.AGENT) as staff:
        session = await begun(http)
        first, second = [(await upload(http, session, png())).json()["id"] for _ in range(2)]
        await http.post(CHAT, json={"message": "看看", "session_id": session, "attachments": [first, second]})
        place = f"{CONVERSATIONS}/{session}/attachments/{first}"
        assert (await staff.delete(place)).status_code == 204
        assert (await staff.delete(place)).status_code == 404 == (await http.get(place)).status_code
        assert [path.name for path in files.rglob("*") if path.is_file()] == [second]
        assert (await staff.delete(f"{CONVERSATIONS}/{session}")).status_code == 204
        await server.container.attachments.delete_removed_files()
        assert not [path for path in files.rglob("*") if path.is_file()]


def _auth(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name in ("x-api-key", "x-session-token")}
