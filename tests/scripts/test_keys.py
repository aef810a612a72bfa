from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.keys import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def created(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """Key and id."""
    assert main(["create", *arguments]) == 0
    printed = capsys.readouterr()
    key_id = re.search(r"密钥 (\w+)", printed.err)
    assert key_id
    return printed.out.strip(), key_id.group(1)


def test_a_key_is_shown_once_and_its_digest_kept(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    key, key_id = created(capsys, "--role", "client", "--tenant", "acme", "--name", "官网")
    assert re.fullmatch(r"yd-[\w-]{43}", key)
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert key_id in listed and "acme  client" in listed and "有效  官网" in listed
    assert key not in listed
    assert all(key.encode() not in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_list_can_be_narrowed_to_a_tenant(capsys: pytest.CaptureFixture[str]) -> None:
    _, of_a = created(capsys, "--role", "admin", "--tenant", "a", "--name", "a")
    _, of_b = created(capsys, "--role", "admin", "--tenant", "b", "--name", "b")
    main(["list", "--tenant", "b"])
    listed = capsys.readouterr().out
    assert of_b in listed and of_a not in listed


def test_a_revoked_key_stays_in_the_list_and_is_revoked_only_once(capsys: pytest.CaptureFixture[str]) -> None:
    _, key_id = created(capsys, "--role", "agent", "--name", "坐席")
    assert main(["revoke", key_id]) == 0
    assert "没有有效的密钥了" in capsys.readouterr().err
    main(["list"])
    assert "停用" in capsys.readouterr().out
    assert main(["revoke", key_id]) == 1
    assert key_id in capsys.readouterr().err


def test_a_key_is_rotated_and_given_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    key, key_id = created(capsys, "--role", "server", "--name", "订单", "--days", "90")
    assert main(["rotate", key_id, "--grace-hours", "1"]) == 0
    assert capsys.readouterr().out.strip() not in (key, "")
    assert main(["expire", key_id, "--never"]) == 0
    main(["list"])
    assert "有效  订单" in capsys.readouterr().out
    assert main(["expire", key_id, "--days", "30"]) == 0
    main(["list"])
    assert "有效到" in capsys.readouterr().out
    assert main(["rotate", "none"]) == main(["expire", "none", "--never"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "--role", "root", "--name", "x"],
        ["create", "--role", "admin", "--name", "x", "--tenant", "a b"],
        ["create", "--role", "admin", "--name", " "],
        ["create", "--role", "admin"],
        ["create", "--role", "admin", "--name", "x", "--days", "0"],
        ["rotate", "x", "--grace-hours", "nan"],
        ["expire", "x"],
        [],
    ],
)
def test_what_makes_no_key_is_explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage" in capsys.readouterr().err
