"""Reads what a message says, and what it may mean in its conversation. Pure."""
