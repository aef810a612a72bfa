from tests.app.databases import database, postgresql, sqlite, template, url
from tests.app.quick import migrated, quick_start, tmp_path

__all__ = ["database", "migrated", "postgresql", "quick_start", "sqlite", "template", "tmp_path", "url"]
