"""An identity provider on loopback: a real server of a JWKS, with keys that come, go and sign."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

ISSUER, AUDIENCE = "https://login.example.com/realms/shop", "yingda"
PATH = "/jwks.json"


@dataclass(frozen=True)
class Signer:
    """A pair of keys; published: the public one as a JWK."""

    algorithm: str
    key: Any
    key_id: str

    @property
    def published(self) -> dict[str, Any]:
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        public = algorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {**dict(public), "kid": self.key_id, "use": "sig", "alg": self.algorithm}

    def token(self, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """Times are seconds from now; claims that are None are left out; no kid where it is None."""
        body = {"sub": "M0001", "exp": 3600, "iat": 0, "iss": ISSUER, "aud": AUDIENCE, **claims}
        times = {name: int(time.time()) for name in ("exp", "iat", "nbf")}
        given = {
            name: times.get(name, 0) + value if name in times else value
            for name, value in body.items()
            if value is not None
        }
        told = {"kid": self.key_id, **(headers or {})}
        return jwt.encode(given, self.key, self.algorithm, {name: value for name, value in told.items() if value})


@cache
def rsa_signer(key_id: str = "rsa-1", bits: int = 2048) -> Signer:
    return Signer("RS256", rsa.generate_private_key(65537, bits), key_id)


@cache
def ec_signer(key_id: str = "ec-1") -> Signer:
    return Signer("ES256", ec.generate_private_key(ec.SECP256R1()), key_id)


@dataclass
class ProviderServer:
    """document: what is sent, as it is; status, headers: with it; asked: how often."""

    document: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    @property
    def settings(self) -> dict[str, str]:
        """Of a product that takes its tokens."""
        return {"oidc_issuer": ISSUER, "oidc_audience": AUDIENCE, "oidc_jwks_url": self.url}

    def publish(self, *signers: Signer) -> None:
        """These keys and no others."""
        self.document = json.dumps({"keys": [signer.published for signer in signers]}).encode()

    def start(self) -> None:
        """On the same port as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        self.port = self._server.server_port
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def kill(self) -> None:
        """From now on nobody listens there."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked += 1
                self.send_response(provider.status)
                for name, value in provider.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(provider.document)))
                self.end_headers()
                self.wfile.write(provider.document)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        return Handler


@contextmanager
def provider_server(*signers: Signer) -> Iterator[ProviderServer]:
    """It runs, and shows these keys."""
    server = ProviderServer()
    server.publish(*signers)
    server.start()
    try:
        yield server
    finally:
        server.kill()
