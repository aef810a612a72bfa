"""The Model Context Protocol: what assistants such as Claude Desktop and Cursor may do with a tenant's knowledge."""
