"""Embedder, reranker and language models, by asking them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents.errors import GenerationError, GenerationRejected
from agents.llm.chat import ChatModel
from app.configuration.models import GGUF
from app.doctor.types import Diagnosis, report_error, report_fine, report_note, report_warning
from app.retrieval import build_embedder_options, build_reranker_options
from app.settings import Settings
from app.wiring.models import LanguageModels
from knowledge.checkpoint import is_installed
from knowledge.embeddings.registry import get_embedder, resolve_embedder
from knowledge.errors import KnowledgeError
from knowledge.onnx_checkpoint import FOLDER, GRAPHS, Runtime
from knowledge.rerankers.registry import get_reranker
from knowledge.rerankers.remote import RemoteReranker

_EMBEDDER, _RERANKER, _MODEL = "向量模型", "重排器", "大模型"
_QUESTION = "怎么申请退货"
_DEFAULT = ".venv/bin/python -m pip install --no-deps -r requirements-lite.lock"
_EVERYTHING = ".venv/bin/python -m pip install -r requirements.txt"
_LOCAL = ".venv/bin/python -m pip install -r requirements-gguf.txt"
_MAGIC = b"GGUF"
_EXPORT = ".venv/bin/python scripts/export_onnx.py"
REPLY_SECONDS = 30.0


async def check_embedder(settings: Settings) -> Sequence[Diagnosis]:
    """Whether a question becomes a vector of the length that is configured. What would be downloaded first is not."""
    name = resolve_embedder(settings.embedder)
    if name == "bge" and (found := _check_weights(_EMBEDDER, "BGE_MODEL", settings.bge_model, settings.bge_runtime)):
        return [found]
    try:
        embedder = get_embedder(name, None, build_embedder_options(settings))
        try:
            vector = await embedder.embed_question(_QUESTION)
            known = embedder.title, f"{len(vector)} 维", embedder.details
            return [report_fine(_EMBEDDER, "，".join(filter(None, known)))]
        finally:
            embedder.close()
    except KnowledgeError as problem:
        return [report_error(_EMBEDDER, f"EMBEDDER={settings.embedder} 不能用：{problem}", _build_embedder_fix(name))]


async def check_reranker(settings: Settings) -> Sequence[Diagnosis]:
    """Whether what the chosen one needs is there; one that is elsewhere is asked."""
    weights = settings.bge_reranker_model, settings.bge_reranker_runtime
    if settings.reranker == "bge" and (found := _check_weights(_RERANKER, "BGE_RERANKER_MODEL", *weights)):
        return [found]
    if settings.reranker not in ("tei", "jina", "yes_no"):
        return [report_fine(_RERANKER, settings.reranker)]
    reranker = get_reranker(settings.reranker, build_reranker_options(settings))
    assert isinstance(reranker, RemoteReranker)
    try:
        await reranker.check_server()
    except KnowledgeError as problem:
        told = f"RERANKER={settings.reranker} 不能用，问答会先由 {settings.rerank_fallback} 重排：{problem}"
        return [
            report_error(
                _RERANKER, told, "核对 RERANK_BASE_URL、RERANK_API_KEY 与 RERANK_MODEL，以及这台机器能否连到它"
            )
        ]
    finally:
        reranker.close()
    return [report_fine(_RERANKER, f"{settings.reranker}，{settings.rerank_model} 有回答")]


async def check_language_models(settings: Settings) -> Sequence[Diagnosis]:
    """Whether each one that is configured replies."""
    if settings.llm_provider == "gguf":
        return [_check_local_file(_MODEL, "LLM_LOCAL_MODEL", settings.llm_local_model)]
    local: list[Diagnosis] = []
    elsewhere: dict[str, Any] = {"prompts_dir": None}
    if settings.reader_model.endswith(GGUF):
        local.append(_check_local_file("看资料的大模型", "READER_MODEL", settings.reader_model))
        elsewhere["reader_model"] = ""
    async with LanguageModels(settings.model_copy(update=elsewhere)) as models:
        if not models.present:
            fix = "要由大模型写回答，就设置 LLM_API_KEY、LLM_BASE_URL 与 LLM_MODEL"
            return [*local, report_note(_MODEL, "没有设置，回答摘自知识库原文", fix)]
        main, small = models.main, models.small
        found = [] if main is None else [await _reply(_MODEL, model, "LLM") for model in main.models]
        if small is not None and (main is None or settings.small_llm_base_url or settings.small_llm_model):
            found.append(await _reply("小模型", small.models[0], "SMALL_LLM"))
        return [*local, *found]


async def _reply(subject: str, model: ChatModel, prefix: str) -> Diagnosis:
    try:
        await model.complete([{"role": "user", "content": "只回答一个字：好"}], REPLY_SECONDS)
    except GenerationRejected as problem:
        fix = f"核对 {prefix}_API_KEY 与 {prefix}_MODEL：401、403 是密钥不对，400、404 多半是模型名或地址不对"
        return report_error(subject, f"{model.name} 拒绝了请求：{problem}", fix)
    except GenerationError as problem:
        fix = f"核对 {prefix}_BASE_URL（一般以 /v1 结尾），以及这台机器能否连到它"
        return report_error(subject, f"{model.name} 没有回答：{problem}", fix)
    return report_fine(subject, f"{model.name} 有回答")


def _check_local_file(subject: str, variable: str, path: str) -> Diagnosis:
    """Whether a model of this machine can be loaded; loading it would take seconds and gigabytes."""
    if not Path(path).is_file():
        return report_error(subject, f"{variable}={path} 不是文件", f"把 {variable} 指向下载好的 GGUF 文件")
    with Path(path).open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return report_error(
                subject, f"{variable}={path} 不是 GGUF 文件", "换成 GGUF 格式的对话模型，重新下载损坏的文件"
            )
    if not is_installed("xllamacpp"):
        return report_error(subject, "GGUF 模型需要 xllamacpp，没有安装", _LOCAL)
    return report_fine(subject, f"本机模型 {path}，这里没有装载")


def _check_weights(subject: str, variable: str, model: str, runtime: Runtime) -> Diagnosis | None:
    """Returns what is wrong with the weights of a checkpoint; None if they lie in a folder."""
    graph = Path(model, FOLDER, GRAPHS[runtime]) if runtime in GRAPHS else None
    if Path(model, "config.json").is_file():
        if graph is not None and graph.is_file():
            return None
        if runtime.startswith("onnx"):
            return report_error(subject, f"{variable}={model} 里没有 {FOLDER}/{GRAPHS[runtime]}", f"{_EXPORT} {model}")
        return (
            None
            if find_spec("FlagEmbedding")
            else report_error(subject, "BGE 需要 FlagEmbedding，没有安装", _EVERYTHING)
        )
    if runtime == "torch" and not find_spec("FlagEmbedding"):
        return report_error(subject, "BGE 需要 FlagEmbedding，没有安装", _EVERYTHING)
    if model.startswith((".", "/")) or Path(model).exists():
        return report_error(subject, f"{variable}={model} 里没有 config.json", f"把权重放进去，或改正 {variable}")
    told = f"{variable}={model} 首次用到时从模型站下载，这里没有试"
    return report_warning(subject, told, f"不能上网时先下载到文件夹，再把 {variable} 指向它；国内可设 HF_ENDPOINT")


def _build_embedder_fix(name: str) -> str:
    if name in ("openai", "tei"):
        return "核对 EMBEDDING_BASE_URL、EMBEDDING_API_KEY、EMBEDDING_MODEL 与 EMBEDDING_DIMENSION"
    return _EVERYTHING if name in ("bge", "use") else _DEFAULT
