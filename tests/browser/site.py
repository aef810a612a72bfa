"""A site of somebody else that embeds the widget, under a policy that allows nothing but the server's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Site:
    """policy: sent with the page; page: its HTML, which may be set at any time."""

    def __init__(self) -> None:
        self.address = self.policy = self.page = ""

    def embed(self, server: str, **data: str) -> str:
        """A shop's page with the widget's script on it; data: its attributes. Returns the address."""
        self.policy = (
            f"default-src 'none'; script-src {server}; connect-src {server} {server.replace('http', 'ws')}; "
            "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
        )
        attributes = " ".join(f'data-{name}="{value}"' for name, value in data.items())
        self.page = (
            '<!doctype html><html lang="zh-CN"><head><meta charset="utf-8"><meta name="viewport" '
            'content="width=device-width, initial-scale=1"><meta name="description" content="轻便的降噪耳机">'
            "<title>YS-H30 降噪耳机 - 商城</title></head><body><main><h1>YS-H30 降噪耳机</h1><p>899 元</p></main>"
            f'<script async src="{server}/widget.js" {attributes}></script></body></html>'
        )
        return self.address


@contextmanager
def serving_site() -> Iterator[Site]:
    """Answers until the block ends, on an origin of its own."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.split("?")[0] in ("/", "/products/h30")
            body = site.page.encode() if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", site.policy)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    site.address = f"http://localhost:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
