"""Encrypts what has to be read again, such as a language model's key: by SECRETS_KEY, or a key file of DATA_DIR."""

from __future__ import annotations

import base64
import hashlib
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import Conflict

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

FILE = "secrets.key"


class Sealer:
    """configured: SECRETS_KEY, empty for a key of this DATA_DIR's own, made when it is first needed."""

    def __init__(self, configured: str, data_dir: Path) -> None:
        self._configured, self._file = configured, data_dir / FILE

    def encrypt(self, text: str) -> str:
        """Encrypts and signs a text; an empty text stays empty."""
        return self._build_cipher().encrypt(text.encode()).decode() if text else ""

    def decrypt(self, sealed: str) -> str:
        """Raises Conflict where another key sealed it."""
        if not sealed:
            return ""
        from cryptography.fernet import InvalidToken

        try:
            return self._build_cipher().decrypt(sealed.encode()).decode()
        except InvalidToken as error:
            message = "存着的密钥解不开：SECRETS_KEY 与保存时不同，或几台服务各用各的。请统一后重新填写密钥。"
            raise Conflict(message, code="secret_unreadable") from error

    def _build_cipher(self) -> Fernet:
        from cryptography.fernet import Fernet

        digest = hashlib.sha256((self._configured or self._read_own_key()).encode()).digest()
        return Fernet(base64.urlsafe_b64encode(digest))

    def _read_own_key(self) -> str:
        try:
            with self._file.open("x", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
        except FileExistsError:
            pass
        return self._file.read_text("ascii").strip()
