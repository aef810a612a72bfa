from tests.app.quick import migrated, quick_start, tmp_path

__all__ = ["migrated", "quick_start", "tmp_path"]
