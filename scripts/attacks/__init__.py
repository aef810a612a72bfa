"""Attacks on a running server of one's own, one module a subject; `scripts/attack.py` runs them all."""
