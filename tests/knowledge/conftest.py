"""Settings of all tests of the retrieval engine."""

from __future__ import annotations

from hypothesis import settings

# Timings belong in benchmarks: a busy machine is no failure.
settings.register_profile("knowledge", deadline=None)
settings.load_profile("knowledge")
