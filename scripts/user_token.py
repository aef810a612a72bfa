"""Prints a signed user token for trying out: `python scripts/user_token.py M0001`.

In production the company's own server signs them, with the same USER_TOKEN_SECRET, or the tenant's own.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.auth.principal import DEFAULT_TENANT
from app.auth.user_token import UserTokens, sign_token
from app.settings import load_settings
from knowledge.errors import InvalidConfiguration
from scripts.commands import parse_tenant


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, or 2 without a secret."""
    parser = argparse.ArgumentParser(prog="scripts/user_token.py", description="签发试用的 user_token")
    parser.add_argument("caller", help="会员编号，即业务库里的身份列")
    parser.add_argument("--minutes", type=float, default=60.0, help="有效的分钟数，默认 60")
    parser.add_argument(
        "--tenant", default="", type=lambda text: text and parse_tenant(text), help="限定租户；默认不限"
    )
    options = parser.parse_args(arguments)
    try:
        settings = load_settings()
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        return 2
    secret = UserTokens.from_settings(settings).get_secret(options.tenant or DEFAULT_TENANT)
    if not secret:
        print("请先设置 USER_TOKEN_SECRET（至少 32 个字符）", file=sys.stderr)
        return 2
    claim = settings.user_token_tenant_claim
    of_whom = options.tenant or (DEFAULT_TENANT if claim else "")
    named = {"issuer": settings.user_token_issuer, "audience": settings.user_token_audience, "tenant_claim": claim}
    print(sign_token(secret, options.caller, options.minutes * 60, time.time(), of_whom, **named))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
