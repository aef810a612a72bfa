"""Optional programs that read more kinds of files."""

from __future__ import annotations

from collections.abc import Sequence
from shutil import which

from app.doctor.types import Diagnosis, report_fine, report_note
from app.settings import Settings
from knowledge.parsing.legacy import INSTALL
from knowledge.recognition import rapid

_OFFICE, _OCR = "LibreOffice（可选）", "OCR（可选）"


async def check_readers(settings: Settings) -> Sequence[Diagnosis]:
    """Checks LibreOffice, for files of before 2007, and OCR, for pictures and scans."""
    return [_check_office(settings), _check_ocr(settings)]


def _check_office(settings: Settings) -> Diagnosis:
    if found := which(settings.soffice_path):
        return report_fine(_OFFICE, found)
    fix = f"要导入它们就安装 LibreOffice（{INSTALL}），或用 SOFFICE_PATH 指出它"
    return report_note(_OFFICE, "没有找到：DOC、XLS、PPT 不能导入", fix)


def _check_ocr(settings: Settings) -> Diagnosis:
    if not settings.ocr_max_pages:
        return report_note(_OCR, "OCR_MAX_PAGES=0：图片与扫描件不识别", "要识别就去掉 OCR_MAX_PAGES=0")
    if rapid.is_installed():
        return report_fine(_OCR, f"已安装，一份文件最多识别 {settings.ocr_max_pages} 页")
    fix = f".venv/bin/python -m pip install -r {rapid.REQUIREMENTS}"
    return report_note(_OCR, "没有安装：图片与扫描件不能导入", fix)
