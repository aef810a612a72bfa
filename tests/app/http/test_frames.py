"""Frames that no honest client sends, at a real server; see `tests/security/test_socket_fuzz.py` for more of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from tests.app.serving import served
from tests.logs import product_log

# A frame of type text whose bytes are none.
NO_TEXT = b"\x81\x84\0\0\0\0\xff\xfe\xc3\x28"


async def test_a_text_that_is_no_utf8_ends_the_connection_and_is_no_error_of_the_server(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await server.container.startup.ready.wait()
        url = server.address.replace("http", "ws", 1) + "/api/v1/conversations/c1/ws?after=0"
        with product_log("WARNING") as log:
            async with connect(url, proxy=None) as line:
                line.transport.write(NO_TEXT)
                with pytest.raises(ConnectionClosedError):
                    while True:
                        await line.recv()
            assert line.close_code == 1007
    assert log.getvalue() == ""
