"""Sessions of onnxruntime, as a service that shares its processors and its memory wants them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# Initializers by name that a graph does not hold itself.
Weights = Mapping[str, NDArray[Any]]


def open_session(graph: Path, threads: int, weights: Weights | None = None) -> InferenceSession:
    """Opens a session in which one call uses several threads.

    Idle threads sleep. Of e5, with two threads that spin, two callers took 21 ms of processors a question, with two
    that sleep 15, as with one; beside two busy processes 26 ms instead of 16.

    Args:
        graph: The model.
        threads: Threads of one call, the caller's included.
        weights: Weights that the graph takes from outside.

    Raises:
        Exception: Whatever a broken file raises.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # An arena would keep the memory of the longest text for good, 25 MB of e5; without it passages take 4 % longer.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    if weights:
        arrays = [np.ascontiguousarray(array) for array in weights.values()]
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays]
        options.add_external_initializers(list(weights), values)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
