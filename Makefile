# The first interpreter that is new enough; another one: make run PYTHON=python3.13
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# Unit tests: no server, no other process, no PyTorch.
FAST := tests/knowledge tests/agents tests/contracts tests/docs/test_development.py tests/test_architecture.py \
	$(addprefix --ignore=tests/, agents/business agents/llm/test_local.py agents/test_metamorphic.py knowledge/sandbox \
	knowledge/embeddings/test_bge.py knowledge/embeddings/test_guarded.py knowledge/rerankers/test_bge.py \
	knowledge/test_onnx_model.py \
	contracts/test_chat_models.py contracts/test_generators.py contracts/test_rerankers.py) \
	--deselect=tests/contracts/test_embedders.py::TestBge

# What is run in an order by chance; the same one again: make acceptance SEED=…
SEED := $(shell date +%s)
SHUFFLED := tests/agents tests/app tests/contracts tests/knowledge tests/scripts

.DEFAULT_GOAL := help
LOCKED = --quiet --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock"

.PHONY: help install install-dev lock run lint format test all-tests test-fast acceptance coverage test-vectors docs settings-docs api-docs diagram-docs widget

help: ## 显示这份说明
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: install ## 启动服务：首次运行先装依赖并导入示例知识库，无需密钥
	$(BIN)/python -m app

install: $(VENV)/.installed ## 建好 .venv，装上默认运行所需的依赖（requirements-lite.lock）

install-dev: $(VENV)/.installed-dev ## 装上全部依赖与开发工具（含 BGE 与 PyTorch）

lint: install-dev ## 静态检查：ruff 与严格模式的 mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	nice $(BIN)/mypy

format: install-dev ## 按统一格式改写代码
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: install-dev ## 静态检查与全部测试，两样同时进行
	@$(MAKE) --no-print-directory -j 2 lint all-tests

all-tests: install-dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-fast: install-dev ## 只跑单元测试：不启动服务，改代码时随时跑
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(FAST)

acceptance: install-dev ## 验收：平时只跑一部分的大批用例在这里全部跑完（变异、压力、全部样例问题、基准），再把单元测试按随机次序跑一遍（分布式导入先装 requirements-ray.txt，否则跳过）
	ACCEPTANCE=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m acceptance
	$(BIN)/python -m pytest -n 2 --dist loadgroup -p randomly --randomly-seed=$(SEED) --randomly-dont-reset-seed $(SHUFFLED)

coverage: install-dev ## 跑全部测试，量出走过了多少行（测试另起的进程里走过的不算）；逐行的在 htmlcov/
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=html --cov-report=term:skip-covered

test-vectors: install-dev ## 重新生成 tests/vectors.npz：测试要用的向量，免得每个新检出都重算
	rm -f tests/vectors.npz .cache/embeddings.sqlite3*
	$(BIN)/python -m pytest -n 2 --dist loadgroup tests/agents tests/evaluation tests/e2e
	$(BIN)/python -m tests.vectors

docs: install-dev ## 构建文档站点到 site/
	$(BIN)/mkdocs build --strict

lock: install-dev ## 选定每个包的版本与散列：默认运行（requirements-lite.lock）与全部（requirements.lock，x86-64 Linux）；先删掉这两个文件就全部换新
	$(PIP) uv==0.13.9
	$(BIN)/uv pip compile --universal $(LOCKED) --output-file requirements-lite.lock requirements-lite.txt
	$(BIN)/uv pip compile --no-config --python-platform x86_64-unknown-linux-gnu $(LOCKED) --output-file requirements.lock requirements.txt

settings-docs: install-dev ## 按代码重新生成文档里的配置表与 .env.example
	$(BIN)/python scripts/settings_docs.py

api-docs: install-dev ## 按代码重新生成文档里的接口参考
	$(BIN)/python scripts/api_docs.py

widget: install-dev ## 把挂件的各个模块合成一个文件，并按接口重新生成内核的类型（要 Node 与 npm；改了 app/web/widget、它用到的 app/web/core 与 app/web/shared，或顾客一侧的接口之后运行）
	$(BIN)/python scripts/widget_types.py
	$(BIN)/python scripts/widget_bundle.py

diagram-docs: install-dev ## 按代码重新生成文档里的状态表与权重表
	$(BIN)/python scripts/diagram_docs.py

# Where the server may not write beside its code, or PYTHONDONTWRITEBYTECODE is set, every start would compile it.
COMPILE := $(BIN)/python -m compileall -qq app agents knowledge scripts

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "需要 Python 3.11 或更高版本；装好后可用 make run PYTHON=python3.12 指定"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile -q pip==26.3  # that of Python 3.11 takes twice the time, to choose among the files of an index

$(VENV)/.installed: requirements-lite.lock | $(BIN)/pip
	$(PIP) --no-deps -r requirements-lite.lock
	$(COMPILE)
	@touch $@

# Compiled on all cores; what little of these large packages is imported is compiled then.
LARGE := kubernetes|tests?|torch|torchgen|transformers|sympy|sklearn|pandas|fontTools|pip|networkx|onnxscript|mypyc?|setuptools|narwhals|mpmath
$(VENV)/.installed-dev: requirements-lite.txt requirements.txt requirements-ocr.txt requirements-gguf.txt requirements-dev.txt | $(BIN)/pip
	$(PIP) --no-compile -r requirements.txt -r requirements-dev.txt
	$(BIN)/python -m compileall -qq -j 0 -x '/($(LARGE))/' $(VENV)/lib || true  # a few files there are for no Python 3
	$(COMPILE)
	@touch $(VENV)/.installed $@
