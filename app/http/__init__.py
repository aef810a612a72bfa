"""The transport: what is decided on a connection or a request before any feature sees it."""
