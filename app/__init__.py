"""The server of Yingda."""

__version__ = "0.1.0"
"""Of the whole project; pyproject.toml takes it from here."""
