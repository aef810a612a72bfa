"""Strangers' files are read in worker processes that can be killed: one module a part, `pool.Sandbox` is the way in."""
