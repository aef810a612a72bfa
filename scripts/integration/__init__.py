"""Plays an integrator against real servers, one module a subject; `scripts/integrator.py` runs them all."""
