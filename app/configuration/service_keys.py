"""Keys that are sent to other services."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

# What the header of a request can hold.
_PATTERN = r"^[ -~]*$"


def _check_key(key: SecretStr) -> SecretStr:
    if not re.fullmatch(_PATTERN, key.get_secret_value()):
        raise ValueError("密钥只能用英文字母、数字和半角符号，否则放不进请求头")
    return key


ServiceKey = Annotated[SecretStr, AfterValidator(_check_key), Field(json_schema_extra={"pattern": _PATTERN})]
