"""Libraries that few requests need: imported at the first access, as PEP 810 will do from Python 3.15 on."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module in the namespace of another one, beside an import for type checkers:

        if TYPE_CHECKING:
            import httpx
        else:
            httpx = LazyModule("httpx")

    Errors of the import are raised where it is first used.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
