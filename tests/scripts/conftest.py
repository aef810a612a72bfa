from tests.app.quick import quick_start

__all__ = ["quick_start"]
