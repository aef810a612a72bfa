"""The server of Yingda."""

import gc

# Of the whole project; pyproject.toml takes it from here.
__version__ = "0.1.0"

# What is imported stays: to look through it again and again took a fifth of every start.
gc.set_threshold(50_000, 20, 20)
