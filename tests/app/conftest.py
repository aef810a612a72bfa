from tests.app.databases import database, postgresql, sqlite, template, url
from tests.app.quick import migrated, quick_start, tmp_path
from tests.services import own_redis

__all__ = ["database", "migrated", "own_redis", "postgresql", "quick_start", "sqlite", "template", "tmp_path", "url"]
