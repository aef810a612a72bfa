# syntax=docker/dockerfile:1
# docker build -t yingda .                       the server, with the embedder that needs no GPU
# docker build -t yingda:bge --build-arg BGE=1 . with BGE on PyTorch: several GB
# docker build -t yingda:gguf --build-arg GGUF=1 . with llama.cpp, for a language model in a file
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG BGE=0
ARG OCR=0
ARG GGUF=0
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
# Some packages have no wheel for some machines; this stage is not shipped.
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ && rm -rf /var/lib/apt/lists/*
COPY requirements-lite.lock requirements-lite.txt requirements.txt requirements-ocr.txt requirements-gguf.txt ./
# Drivers of servers have their versions in requirements.txt, which else is BGE, charts and evaluation.
RUN python -m venv /opt/venv \
    && grep -E '^(asyncpg|redis|pymilvus)(==|\[)' requirements.txt > drivers.txt \
    && /opt/venv/bin/pip install --no-deps -r requirements-lite.lock \
    && /opt/venv/bin/pip install -r drivers.txt \
    && if [ "$BGE" = 1 ]; then /opt/venv/bin/pip install -r requirements.txt; fi \
    && if [ "$OCR" = 1 ]; then /opt/venv/bin/pip install -r requirements-ocr.txt; fi \
    && if [ "$GGUF" = 1 ]; then /opt/venv/bin/pip install -r requirements-gguf.txt; fi

FROM python:${PYTHON}-slim
# postgresql-client for scripts/backup.py; more, such as libreoffice-writer-nogui, by --build-arg PACKAGES="…"
ARG PACKAGES=""
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 postgresql-client ${PACKAGES} \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin yingda \
    && install -d -o yingda -g yingda -m 0700 /data /backups
COPY --from=build /opt/venv /opt/venv
WORKDIR /opt/yingda
COPY app app
COPY agents agents
COPY knowledge knowledge
COPY scripts scripts
COPY requirements-ocr.txt requirements-gguf.txt LICENSE ./
RUN python -m compileall -q app agents knowledge scripts
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    HOST=0.0.0.0 \
    PORT=8000 \
    DATA_DIR=/data
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8000
STOPSIGNAL SIGTERM
# The first start computes vectors behind an open port: alive is not ready, and what routes requests asks /ready.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
CMD ["python", "-m", "app"]
