from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.db.lock import DataDirLock
from app.db.migrate import find_head
from app.doctor import places
from scripts import doctor, seed_business, upgrade
from scripts.scripted_llm import ScriptedLLM
from tests.model_server import KEY, model_server
from tests.services import postgres_database

Run = Callable[..., tuple[int, dict[str, tuple[str, str, str]]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command under settings: its exit code, and subject -> level, what was told, what to do."""
    monkeypatch.chdir(tmp_path)

    def examined(**settings: str) -> tuple[int, dict[str, tuple[str, str, str]]]:
        for name, value in ({"EMBEDDER": "hash", "DATA_DIR": str(tmp_path / "data")} | settings).items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        code = doctor.main(["--json"])
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        for line in lines:
            assert line["fix"] or line["level"] == "ok", line
        return code, {line["subject"]: (line["level"], line["told"], line["fix"]) for line in lines}

    return examined


def test_the_defaults_have_no_error_and_nothing_is_made(run: Run, tmp_path: Path) -> None:
    code, found = run()
    assert code == 0
    assert {level for level, _, _ in found.values()} <= {"ok", "note"}
    assert list(tmp_path.iterdir()) == []


def test_a_variable_that_is_wrong_is_named(run: Run) -> None:
    code, found = run(PORT="70000")
    assert code == 1
    assert "PORT" in found["配置"][1]


def test_a_host_that_is_exposed_without_a_key_is_an_error_until_there_is_one(run: Run) -> None:
    code, found = run(HOST="0.0.0.0")
    assert (code, found["访问"][0]) == (1, "error")
    assert "API_KEY" in found["访问"][2]
    code, found = run(API_KEY="k" * 24)
    assert (code, found["访问"][0]) == (0, "ok")
    assert found["反向代理"][0] == "warning"


def test_a_data_dir_that_is_a_file_is_an_error(run: Run, tmp_path: Path) -> None:
    tmp_path.joinpath("data").write_text("")
    code, found = run()
    assert (code, found["数据目录"][0]) == (1, "error")


def test_a_disk_that_is_nearly_full_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    free = shutil.disk_usage("/").free
    monkeypatch.setattr(places, "SCARCE_FREE", free * 2)
    assert run()[1]["磁盘空间"][0] == "warning"
    monkeypatch.setattr(places, "LEAST_FREE", free * 2)
    assert run()[0] == 1


def test_a_server_that_runs_is_seen(run: Run, tmp_path: Path) -> None:
    lock = DataDirLock(tmp_path / "data")
    assert lock.try_acquire()
    assert "正由服务使用" in run()[1]["数据目录"][1]
    lock.release()
    assert "正由服务使用" not in run()[1]["数据目录"][1]


def test_a_database_of_a_newer_code_is_an_error_and_no_database_at_all_another(run: Run, tmp_path: Path) -> None:
    tmp_path.joinpath("data").mkdir()
    with closing(sqlite3.connect(tmp_path / "data/yingda.sqlite3")) as database:
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
        database.commit()
    code, found = run()
    assert (code, found["数据库"][0]) == (1, "error")
    assert "9999" in found["数据库"][1]
    tmp_path.joinpath("data/yingda.sqlite3").write_bytes(b"this is no database" * 100)
    assert run()[1]["数据库"][0] == "error"


async def test_a_model_that_replies_is_fine_and_one_that_does_not_an_error(run: Run) -> None:
    async with ScriptedLLM() as model:
        code, found = await asyncio.to_thread(run, LLM_API_KEY="sk-test-key", LLM_BASE_URL=model.base_url)
        assert (code, found["大模型"][0]) == (0, "ok")
    code, found = await asyncio.to_thread(run, LLM_BASE_URL=f"http://127.0.0.1:{closed_port()}/v1")
    assert (code, found["大模型"][0]) == (1, "error")
    assert "LLM_BASE_URL" in found["大模型"][2]
    assert "sk-test-key" not in str(found)


def test_a_model_of_this_machine_is_looked_at_and_not_loaded(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.gguf"
    for content, level, told in (
        (None, "error", "不是文件"),
        (b"<html>", "error", "不是 GGUF"),
        (b"GGUF\3", "ok", "没有装载"),
    ):
        if content is not None:
            path.write_bytes(content)
        code, found = run(LLM_PROVIDER="gguf", LLM_LOCAL_MODEL=str(path))
        assert (code, found["大模型"][0]) == (int(level == "error"), level)
        assert told in found["大模型"][1]
    code, found = run(LLM_PROVIDER="openai", READER_MODEL=str(path))
    assert (code, found["看资料的大模型"][0], found["大模型"][0]) == (0, "ok", "note")
    monkeypatch.setattr("app.doctor.models.is_installed", lambda module: False)
    code, found = run()
    assert code == 1 and "requirements-gguf.txt" in found["看资料的大模型"][2]


def test_an_embeddings_endpoint_out_of_reach_and_weights_that_are_not_there_are_errors(run: Run) -> None:
    address = f"http://127.0.0.1:{closed_port()}/v1"
    code, found = run(EMBEDDER="openai", EMBEDDING_BASE_URL=address, EMBEDDING_MODEL="x")
    assert (code, found["向量模型"][0]) == (1, "error")
    code, found = run(EMBEDDER="bge", BGE_MODEL="./nowhere")
    assert (code, found["向量模型"][0]) == (1, "error")


def test_an_export_that_is_not_there_is_told_with_the_command_that_makes_it(run: Run, tmp_path: Path) -> None:
    tmp_path.joinpath("config.json").write_text("{}")
    code, found = run(RERANKER="bge", BGE_RERANKER_MODEL=str(tmp_path), BGE_RERANKER_RUNTIME="onnx_int8")
    assert (code, found["重排器"][0]) == (1, "error")
    assert "model_quantized.onnx" in found["重排器"][1] and "export_onnx.py" in found["重排器"][2]
    tmp_path.joinpath("onnx").mkdir()
    tmp_path.joinpath("onnx/model_quantized.onnx").write_bytes(b"")
    assert run(RERANKER="bge", BGE_RERANKER_MODEL=str(tmp_path), BGE_RERANKER_RUNTIME="onnx_int8")[0] == 0


def test_a_rerank_endpoint_is_asked(run: Run) -> None:
    with model_server(score=lambda pairs: [0.5] * len(pairs)) as server:
        wanted = {"RERANKER": "tei", "RERANK_BASE_URL": server.address, "RERANK_MODEL": "m", "RERANK_API_KEY": KEY}
        code, found = run(**wanted)
        assert (code, found["重排器"][0]) == (0, "ok")
        code, found = run(**wanted | {"RERANK_API_KEY": "sk-wrong"})
    assert (code, found["重排器"][0]) == (1, "error")
    assert "RERANK_API_KEY" in found["重排器"][2]
    assert "sk-wrong" not in str(found)


def test_a_business_database_that_is_not_there_is_an_error_until_it_is_made(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/business.sqlite3"
    code, found = run(BUSINESS_DATABASE_URL=url)
    assert (code, found["业务库（租户 default）"][0]) == (1, "error")
    assert "不存在" in found["业务库（租户 default）"][1]
    assert seed_business.main([]) == 0  # where DATA_DIR says
    assert tmp_path.joinpath("data/business.sqlite3").is_file()
    code, found = run()
    assert (code, found["业务库（租户 default）"][0]) == (0, "ok")
    with closing(sqlite3.connect(tmp_path / "data/business.sqlite3")) as database:
        database.execute("ALTER TABLE orders RENAME COLUMN total TO amount")
    code, found = run()
    assert (code, found["业务库（租户 default）"][0]) == (1, "error")
    assert "orders" in found["业务库（租户 default）"][1]


async def test_postgresql_without_tables_is_told_and_upgraded_by_the_command(run: Run) -> None:
    async with postgres_database() as url:
        code, found = await asyncio.to_thread(run, DATABASE_URL=url)
        assert (code, found["数据库"][0]) == (0, "warning")
        assert await asyncio.to_thread(upgrade.main, ["--check"]) == 1
        assert await asyncio.to_thread(upgrade.main, []) == 0
        assert await asyncio.to_thread(upgrade.main, ["--check"]) == 0
        code, found = await asyncio.to_thread(run)
        assert (code, found["数据库"][0]) == (0, "ok")
        assert find_head() in found["数据库"][1]
    code, found = await asyncio.to_thread(run)  # the database is gone
    assert (code, found["数据库"][0]) == (1, "error")


def test_postgresql_out_of_reach_is_an_error_without_its_password(run: Run) -> None:
    code, found = run(DATABASE_URL=f"postgresql+asyncpg://yingda:secretword@127.0.0.1:{closed_port()}/x")
    assert (code, found["数据库"][0]) == (1, "error")
    assert "secretword" not in str(found)
    assert run(DATABASE_URL="postgresql://127.0.0.1/x")[1]["数据库"][0] == "error"


def test_servers_out_of_reach_are_errors_without_their_passwords(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        code, found = run(REDIS_URL=f"redis://:secretword@127.0.0.1:{there.getsockname()[1]}/0")
        assert (code, found["Redis"][0]) == (0, "ok")
    chroma = f"http://127.0.0.1:{closed_port()}"
    code, found = run(REDIS_URL=f"redis://:secretword@127.0.0.1:{closed_port()}/0", CHROMA_URL=chroma)
    assert (code, found["Redis"][0], found["向量库"][0]) == (1, "error", "error")
    assert "secretword" not in str(found)


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_prompt_that_would_be_refused_is_named(run: Run, tmp_path: Path) -> None:
    assert run(PROMPTS_DIR=str(tmp_path / "nowhere"))[1]["提示词"][0] == "error"
    (tmp_path / "prompts").mkdir()
    assert run(PROMPTS_DIR=str(tmp_path / "prompts"))[1]["提示词"][0] == "ok"
    (tmp_path / "prompts" / "verify.md").write_text("核对 {{everything}}", "utf-8")
    level, told, fix = run()[1]["提示词"]
    assert (level, told) == ("error", "verify.md 多了 {{everything}}") and "verify.md" in fix
