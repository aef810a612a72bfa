"""What routes ask of the wiring, the wiring has: of protocols mypy says here what is missing or of another type."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin

from app.attachments.parts import Parts as AttachmentsParts
from app.chat.parts import Parts as ChatParts
from app.connection.api import Parts as ConnectionParts
from app.desk.parts import Parts as DeskParts
from app.documents.parts import Parts as DocumentsParts
from app.evaluation.api import Parts as EvaluationParts
from app.features import FEATURES, import_router
from app.gaps.api import Parts as GapsParts
from app.history.api import Parts as HistoryParts
from app.hit_test.api import Parts as HitTestParts
from app.http.deps import Part
from app.http.parts import HttpParts
from app.keys.api import Parts as KeysParts
from app.main import create_app
from app.people.parts import Parts as PeopleParts
from app.performance.parts import Parts as PerformanceParts
from app.profiles.api import Parts as ProfilesParts
from app.reports.api import Parts as ReportsParts
from app.settings import Settings
from app.tickets.api import Parts as TicketsParts
from app.transcripts.parts import Parts as TranscriptsParts
from app.tuner.api import Parts as TunerParts
from app.vocabulary.api import Parts as VocabularyParts
from app.wiring.container import Container

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]


class Serves(Generic[T]):
    """Parts of the wiring."""

    def __init__(self, parts: T) -> None:
        self.parts = parts


def serve_everything(container: Container) -> None:
    """Is never called: its types are what counts."""
    Serves[HttpParts](container)
    Serves[AttachmentsParts](container)
    Serves[ChatParts](container)
    Serves[ConnectionParts](container)
    Serves[DeskParts](container)
    Serves[DocumentsParts](container)
    Serves[EvaluationParts](container)
    Serves[GapsParts](container)
    Serves[HistoryParts](container)
    Serves[HitTestParts](container)
    Serves[KeysParts](container)
    Serves[PeopleParts](container)
    Serves[PerformanceParts](container)
    Serves[ProfilesParts](container)
    Serves[ReportsParts](container)
    Serves[TicketsParts](container)
    Serves[TranscriptsParts](container)
    Serves[TunerParts](container)
    Serves[VocabularyParts](container)


def test_all_that_routes_ask_for_is_compared_with_the_wiring() -> None:
    asking = {path for path in (ROOT / "app").rglob("*.py") if "\nclass Parts(" in path.read_text("utf-8")}
    own = ast.parse(Path(__file__).read_text("utf-8"))
    compared = {
        ROOT / f"{node.module.replace('.', '/')}.py"
        for node in own.body
        if isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "Parts"
    }
    assert compared == asking


async def test_every_part_that_a_route_names_is_there_and_of_its_type(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    for _, module in FEATURES:
        import_router(module)
    async with app.router.lifespan_context(app):
        container, named = app.state.container, list(list_named_parts())
        assert len(named) > 20
        for name, kind in named:
            assert hasattr(container, name), name
            assert getattr(kind, "_is_protocol", False) or isinstance(getattr(container, name), kind), name


def list_named_parts() -> Iterator[tuple[str, Any]]:
    """Every `Annotated[TYPE, use_part(NAME)]` of the modules that are loaded: name and type."""
    for module in [module for name, module in sys.modules.items() if name.startswith("app.")]:
        for value in vars(module).values():
            if get_origin(value) is not Annotated:
                continue
            kind, *marks = get_args(value)
            for mark in marks:
                if isinstance(part := getattr(mark, "dependency", None), Part):
                    plain = get_origin(kind)
                    yield part.name, kind if plain in (None, UnionType) else plain
