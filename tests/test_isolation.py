from __future__ import annotations

import os
import socket

import httpx
import pytest

from tests.conftest import NetworkBlocked


def test_no_name_of_another_machine_is_resolved() -> None:
    with pytest.raises(NetworkBlocked, match=r"example\.com"):
        httpx.get("http://example.com")


@pytest.mark.parametrize("address", ["93.184.216.34", "10.0.0.1", "example.com"])
def test_no_socket_connects_to_another_machine(address: str) -> None:
    with socket.socket() as connection, pytest.raises(NetworkBlocked):
        connection.connect((address, 80))


def test_this_machine_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as connection:
        assert connection.getpeername() == server.getsockname()


def test_weights_are_never_downloaded() -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
