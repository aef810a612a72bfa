"""The process of a local model: llama.cpp with its own HTTP server, for the process that started it.

Reads one line of JSON from standard input, which `agents.llm.gguf` writes, and writes one with the address that it
listens at or with what went wrong. It ends with its standard input, that is when the process that started it ends.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# Tokens of prompts that are computed at once: what is given up ends with them, and who comes meanwhile waits for
# them.
_BATCH = 64
# Of prompts that were computed and may come again.
_CACHE_MB = 512
_NOTHING_LOGGED = -1


def main() -> None:
    """Serves until standard input ends."""
    options = json.loads(sys.stdin.readline())
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        import xllamacpp

        server = xllamacpp.Server(_set_parameters(xllamacpp.CommonParams(), options))
        reply = {"address": server.listening_address}
    except Exception as error:  # whatever the library says of a file
        reply = {"error": str(error) or type(error).__name__}
    print(json.dumps(reply), file=out, flush=True)
    sys.stdin.read()
    os._exit(0)  # the library's own end waits for what is being computed


def _set_parameters(parameters: Any, options: dict[str, Any]) -> Any:
    parameters.model.path = options["path"]
    parameters.hostnames, parameters.port, parameters.api_keys = ["127.0.0.1"], 0, [options["key"]]
    parameters.n_ctx, parameters.n_parallel, parameters.kv_unified = options["context"], options["at_once"], True
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.cache_ram_mib = _CACHE_MB
    parameters.ui = False
    parameters.verbosity = _NOTHING_LOGGED
    for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
        cpu.n_threads, cpu.poll = options["threads"], 0  # waiting threads sleep
    return parameters
