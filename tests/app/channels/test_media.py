"""Pictures and voice of customers on platforms, through the whole product."""

from __future__ import annotations

from pathlib import Path

import httpx

from app.db.base import now
from tests.app.attachments.pictures import SVG, jpeg
from tests.app.channels.simulators import Answer, Call, simulated
from tests.app.channels.test_wechat import APP, plain_request
from tests.app.channels.wechat_signing import TOKEN, xml
from tests.app.serving import served

MEDIA, SEND = "/cgi-bin/media/get", "/cgi-bin/message/custom/send"
CALLBACK = "/api/v1/channels/shop/callback"
FILES = {"photo": jpeg(place="家里"), "drawing": SVG}


def answer(call: Call) -> Answer:
    if call.path == MEDIA:
        return FILES.get(call.query["media_id"], {"errcode": 40007, "errmsg": "invalid media_id"})
    return {"access_token": "t", "expires_in": 7200}


async def test_pictures_become_attachments_and_voice_is_kindly_declined(tmp_path: Path) -> None:
    async with simulated(answer) as platform:
        options = {"app_id": APP, "app_secret": "secret-of-app", "token": TOKEN, "api_base": platform.url}
        account = {"name": "shop", "kind": "wechat", "options": options}
        async with (
            served(tmp_path, channels=[account], attachment_ocr_seconds=0) as one,
            httpx.AsyncClient(base_url=one.address, timeout=60) as http,
        ):
            said = []
            for number, (kind, media) in enumerate(
                (("image", "photo"), ("image", "drawing"), ("image", "gone"), ("voice", "photo"))
            ):
                about = {"ToUserName": "gh_1", "FromUserName": "u1", "CreateTime": int(now().timestamp())}
                body = xml(**about, MsgId=f"{number}", MsgType=kind, MediaId=media, PicUrl="http://mmbiz/1")
                request = plain_request(body, now())
                sent = len(platform.of(SEND))
                told = (await http.post(CALLBACK, params=request.query, content=request.body)).text
                if told == "success":  # it took longer than the platform waits
                    told = (await platform.wait(SEND, sent + 1))[-1].raw.decode()
                said.append(told)
            assert "图片收到了" in said[0]
            assert "没能收下" in said[1] and "没能收下" in said[2]
            assert "听不了语音" in said[3]
            listed = (await http.get("/api/v1/conversations")).json()["conversations"]
            whole = (await http.get(f"/api/v1/conversations/{listed[0]['session_id']}")).json()
            (kept,) = whole["entries"][0]["attachments"]
            assert (kept["media_type"], kept["width"], whole["entries"][0]["text"]) == ("image/jpeg", 480, "[图片]")
            assert len(platform.of(MEDIA)) == 3
