"""Arguments that several scripts take."""

from __future__ import annotations

import argparse

from app.auth.principal import check_tenant_id


def parse_tenant(text: str) -> str:
    """The id of a tenant, for `type=`."""
    try:
        return check_tenant_id(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_positive(text: str) -> int:
    """A whole number from 1, for `type=`."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("至少为 1")
    return number
