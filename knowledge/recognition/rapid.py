"""PP-OCR by RapidOCR on ONNX Runtime; the weights are in its wheel."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from knowledge.parsing.recognition import RecognisedText

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Pixels

REQUIREMENTS = "requirements-ocr.txt"
# Below this the recogniser guesses.
_LEAST_SCORE = 0.5
# Pixels; where lines are, is seen as well as in 2,000 and in two thirds of the time.
_DETECTION_SIDE = 1280
_PARAMETERS = {
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    "Det.limit_type": "max",
    "Det.limit_side_len": _DETECTION_SIDE,
    "Rec.rec_batch_num": 1,  # lines of a batch are padded to the longest one
    "Global.text_score": _LEAST_SCORE,
    "Global.log_level": "critical",
}


def is_installed() -> bool:
    """Returns whether pictures can be read on this machine."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class RapidRecogniser:
    """A `Recogniser`. Creating it loads the models and reads a first picture."""

    def __init__(self) -> None:
        import cv2
        import onnxruntime
        from rapidocr import RapidOCR

        cv2.setNumThreads(1)
        onnxruntime.disable_telemetry_events()
        self._engine = RapidOCR(params=_PARAMETERS)
        self._engine(np.full((64, 320, 3), 255, np.uint8))
        self._engine(_draw_stripes(), use_det=False)

    def recognise_texts(self, picture: Pixels) -> Sequence[RecognisedText]:
        """See `Recogniser`."""
        found = self._engine(picture, use_det=True)
        if found.boxes is None or found.txts is None:
            return []
        return [_build_text(corners, text) for corners, text in zip(found.boxes, found.txts, strict=True)]


def _build_text(corners: Any, text: str) -> RecognisedText:
    (left, top), (right, right_top), (_, bottom), (left_bottom_x, left_bottom) = (
        (float(x), float(y)) for x, y in corners
    )
    return RecognisedText(
        text=text,
        left=left,
        right=right,
        middle=(top + right_top + bottom + left_bottom) / 4,
        height=hypot(left_bottom_x - left, left_bottom - top),
        slope=(right_top - top) / max(right - left, 1.0),
    )


def _draw_stripes() -> Pixels:
    """Returns a picture to recognise, so that all models are loaded."""
    picture = np.full((48, 320, 3), 255, np.uint8)
    picture[:, ::16] = 0
    return picture
