from __future__ import annotations

from pathlib import Path

import pytest

from app.auth.principal import require_safe_binding
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_any_configuration_it_runs_on_this_machine_only() -> None:
    settings = load_settings()
    assert (settings.host, settings.port, settings.data_dir) == ("127.0.0.1", 8000, Path("data"))
    assert settings.sql_url == "sqlite+aiosqlite:///data/yingda.sqlite3"


def test_a_threshold_of_zero_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMILARITY_THRESHOLD", "0")
    monkeypatch.setenv("CLARIFY_THRESHOLD", "0")
    assert load_settings().similarity_threshold == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("RERANK_TOP_K", "0"),
        ("SIMILARITY_THRESHOLD", "1.2"),
        ("EMBEDDER", "word2vec"),
        ("MILVUS_URI", "milvus.db"),
        *(("CHROMA_URL", url) for url in ("host:8000", "http://user:key@host", "http://host/path", "grpc://host")),
    ],
)
def test_a_value_that_cannot_work_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidConfiguration, match=name):
        load_settings()


def test_a_server_of_a_store_that_is_not_chosen_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMA_URL", "http://127.0.0.1:8100/")
    assert load_settings().vector_server == "http://127.0.0.1:8100/"
    monkeypatch.setenv("VECTOR_STORE", "memory")
    assert load_settings().vector_server == ""
    monkeypatch.setenv("VECTOR_STORE", "milvus")
    assert load_settings().vector_server == ""
    monkeypatch.setenv("MILVUS_URI", "http://user:password@127.0.0.1:19530")
    assert load_settings().vector_server == "http://user:password@127.0.0.1:19530"


def test_thresholds_in_the_wrong_order_name_all_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARIFY_THRESHOLD", "0.9")
    with pytest.raises(InvalidConfiguration, match="CLARIFY_THRESHOLD <= SIMILARITY_THRESHOLD <= CONFIDENT_THRESHOLD"):
        load_settings()


def test_a_misspelt_key_in_the_env_file_is_named(empty_folder: Path) -> None:
    (empty_folder / ".env").write_text("SIMILARITY_TRESHOLD=0.5\n", "utf-8")
    with pytest.raises(InvalidConfiguration, match="SIMILARITY_TRESHOLD"):
        load_settings()


def test_the_business_databases_of_several_tenants_stand_beside_that_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUSINESS_DATABASES", '{"acme": {"url": "sqlite:///a.sqlite3", "schema": "a.yaml"}}')
    monkeypatch.setenv("BUSINESS_DATABASE_URL", "sqlite:///shop.sqlite3")
    monkeypatch.setenv("OFFERS_FILE", "offers.yaml")
    found = load_settings().business_sources
    shown = {
        tenant: (source.url.get_secret_value(), source.described, source.offers) for tenant, source in found.items()
    }
    assert shown == {
        "acme": ("sqlite:///a.sqlite3", Path("a.yaml"), None),
        "default": ("sqlite:///shop.sqlite3", None, Path("offers.yaml")),
    }
    monkeypatch.setenv("BUSINESS_TENANT", "acme")
    with pytest.raises(InvalidConfiguration, match="acme 的业务库写了两处"):
        load_settings()


@pytest.mark.parametrize("source", ['{"ulr": "sqlite:///secret"}', '{"url": 7}', '{"url": ""}', '"sqlite:///secret"'])
def test_a_business_database_that_is_wrong_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setenv("BUSINESS_DATABASES", f'{{"acme": {source}}}')
    with pytest.raises(InvalidConfiguration, match=r"BUSINESS_DATABASES\.ACME") as raised:
        load_settings()
    assert "secret" not in str(raised.value) and ".env" not in str(raised.value)


def test_settings_do_not_change_after_the_start() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().port = 1  # type: ignore[misc]


def test_a_secret_that_is_wrong_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "geheim 123")
    with pytest.raises(InvalidConfiguration, match="API_KEY") as caught:
        load_settings()
    assert "geheim" not in str(caught.value) + str(caught.value.__cause__)


@pytest.mark.parametrize("key", ["changeme", "your-api-key", "密钥", "fifteen-chars-x"])
def test_a_key_everybody_knows_or_nobody_can_send_is_refused(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("API_KEY", key)
    with pytest.raises(InvalidConfiguration, match="API_KEY"):
        load_settings()


@pytest.mark.parametrize("name", ["LLM_API_KEY", "SMALL_LLM_API_KEY", "EMBEDDING_API_KEY", "RERANK_API_KEY", "MCP_KEY"])
def test_a_key_for_others_that_no_header_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "geheim，密钥")
    with pytest.raises(InvalidConfiguration, match=name) as caught:
        load_settings()
    assert "geheim" not in str(caught.value)


def test_secrets_are_not_part_of_the_settings_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "LLM_API_KEY", "SMALL_LLM_API_KEY", "EMBEDDING_API_KEY"):
        monkeypatch.setenv(name, "geheim-geheim-geheim")
    settings = load_settings()
    assert "geheim" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_this_machine_needs_no_key(host: str) -> None:
    require_safe_binding(host, has_key=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.com"])
def test_listening_to_others_takes_a_key(host: str) -> None:
    with pytest.raises(InvalidConfiguration, match=r"HOST.*API_KEY.*keys\.py"):
        require_safe_binding(host, has_key=False)
    require_safe_binding(host, has_key=True)


def test_a_fallback_that_needs_a_model_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANK_FALLBACK", "bge")
    with pytest.raises(InvalidConfiguration, match="RERANK_FALLBACK"):
        load_settings()


@pytest.mark.parametrize("variable", ["BGE_RUNTIME", "BGE_RERANKER_RUNTIME"])
def test_exports_are_not_computed_on_a_gpu(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "onnx")
    load_settings()
    monkeypatch.setenv("BGE_DEVICE", "cuda:1")
    with pytest.raises(InvalidConfiguration, match=variable):
        load_settings()


def test_a_local_model_needs_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "gguf")
    with pytest.raises(InvalidConfiguration, match="LLM_LOCAL_MODEL"):
        load_settings()


def test_a_provider_brings_its_address_and_wants_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (load_settings().llm_address, load_settings().llm_profile_name) == ("https://api.deepseek.com", "deepseek")
    monkeypatch.setenv("LLM_PROFILE", "kimi")
    with pytest.raises(InvalidConfiguration, match="LLM_MODEL"):
        load_settings()
    monkeypatch.setenv("LLM_MODEL", "kimi-k2.5")
    assert load_settings().llm_address == "https://api.moonshot.cn/v1"
    monkeypatch.setenv("LLM_BASE_URL", "https://api.moonshot.ai/v1")
    assert load_settings().llm_address == "https://api.moonshot.ai/v1"


@pytest.mark.parametrize("value", ["{", "[]", '{"messages": []}', '{"stream": true}'])
def test_parameters_of_requests_are_an_object_without_what_the_product_fills_in(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("LLM_PARAMETERS", value)
    with pytest.raises(InvalidConfiguration, match="LLM_PARAMETERS"):
        load_settings()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('[{"model": "m", "profile": "qwen"}]', r"LLM_PROVIDERS\.0\.API_KEY"),
        ('[{"api_key": "geheim", "profile": "qwen"}]', r"LLM_PROVIDERS\.0\.MODEL"),
        ('[{"api_key": "geheim", "model": "m"}]', r"LLM_PROVIDERS\.0.*base_url"),
        ('[{"api_key": "geheim", "model": "m", "profile": "kwen"}]', r"LLM_PROVIDERS\.0\.PROFILE"),
        ('[{"api_key": "geheim", "model": "m", "profile": "qwen", "timeout": 0}]', r"LLM_PROVIDERS\.0\.TIMEOUT"),
        ('[{"api_key": "geheim", "model": "m", "profile": "qwen", "retires": 1}]', r"LLM_PROVIDERS\.0\.RETIRES"),
        ('[{"api_key": "geheim", "model": "m", "profile": "qwen", "name": "small"}]', "small"),
        ("qwen", "LLM_PROVIDERS"),
    ],
)
def test_a_provider_that_cannot_work_is_named_and_its_key_not_shown(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("LLM_PROVIDERS", value)
    with pytest.raises(InvalidConfiguration, match=said) as caught:
        load_settings()
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LLM_DAILY_COST", "5", "LLM_PRICES"),
        ("LLM_BUDGETS", '{"acme": {"cost": 5}}', "LLM_PRICES"),
        ("LLM_BUDGETS", '{"acme": {"tokens": -1}}', r"LLM_BUDGETS\.ACME\.TOKENS"),
        ("LLM_PRICES", '{"m": {"input": 1}}', r"LLM_PRICES\.M\.OUTPUT"),
        ("LLM_DAILY_TOKENS", "-1", "LLM_DAILY_TOKENS"),
    ],
)
def test_a_budget_that_cannot_be_held_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidConfiguration, match=said):
        load_settings()
