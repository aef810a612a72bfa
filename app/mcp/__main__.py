"""MCP over stdin and stdout, for assistants on this machine: `python -m app.mcp`.

Talks to a running server by its HTTP interface, as MCP_URL, MCP_KEY and MCP_USER_TOKEN say: the index of an embedded
installation belongs to that process.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext

from mcp.server.stdio import stdio_server

from app.auth.principal import Role
from app.client.yingda_client import AsyncClient, YingdaError
from app.mcp.server import Caller, build_server
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration


async def serve_stdio(settings: Settings) -> None:
    """Serves MCP over stdin and stdout until the client closes. Raises InvalidConfiguration if the server does not know
    the key or cannot be reached.
    """
    key, user_token = settings.mcp_key.get_secret_value(), settings.mcp_user_token.get_secret_value()
    async with AsyncClient(settings.mcp_url, key, user_token=user_token, timeout=300) as client:
        try:
            signed_in = await client.read_sign_in()
        except YingdaError as error:
            raise InvalidConfiguration(f"MCP_URL={settings.mcp_url} 没有应答的服务：{error}") from error
        if not signed_in["signed_in"]:
            raise InvalidConfiguration("MCP_KEY 不对：服务不认识这个密钥，或它已停用")

        caller = Caller(client, frozenset(map(Role, signed_in["roles"])))
        server = build_server(lambda ctx: nullcontext(caller))
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


def main() -> None:
    """Runs the server; errors go to stderr, since stdout belongs to the protocol."""
    try:
        asyncio.run(serve_stdio(load_settings()))
    except InvalidConfiguration as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
