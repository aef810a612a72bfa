"""Old processes go on while new ones are started: a migration adds, and takes nothing away that the release before
still reads. What is no longer needed goes in a later release, named in CONTRACTS.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from app.db.migrate import MIGRATIONS

# Migrations of before the rule are not looked at.
FROM = 34
# Stems of migrations that take away what no release reads any more, one release after it was last read.
CONTRACTS = frozenset({"0043_drop_experiments"})  # no release ever read these tables
TAKES = {"drop_column", "drop_table", "drop_constraint", "alter_column", "rename_table"}


def taken(source: str) -> list[str]:
    """What `upgrade` takes away, and the columns without a default that it adds: the old code would not fill them."""
    (upgrade,) = (
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "upgrade"
    )
    found = []
    for call in (node for node in ast.walk(upgrade) if isinstance(node, ast.Call)):
        if not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr in TAKES:
            found.append(call.func.attr)
        if call.func.attr == "add_column" and isinstance(column := call.args[-1], ast.Call):
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in column.keywords}
            if given.get("nullable") == "False" and "server_default" not in given:
                found.append("add_column without server_default")
    return found


@pytest.mark.parametrize("path", sorted((MIGRATIONS / "versions").glob("[0-9]*.py")), ids=lambda path: path.stem)
def test_a_migration_leaves_the_code_of_the_release_before_working(path: Path) -> None:
    if int(path.stem[:4]) >= FROM and path.stem not in CONTRACTS:
        assert taken(path.read_text("utf-8")) == []


def test_what_would_stop_older_code_is_found() -> None:
    source = """
def upgrade():
    op.drop_column("a", "b")
    op.add_column("a", sa.Column("c", sa.Text(), nullable=False))
    op.add_column("a", sa.Column("d", sa.Text(), nullable=True))
    op.add_column("a", sa.Column("e", sa.Text(), nullable=False, server_default=""))


def downgrade():
    op.drop_table("a")
"""
    assert sorted(taken(source)) == ["add_column without server_default", "drop_column"]
