"""The server over HTTP: on loopback unless a token is set, never for pages of other origins."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from swath.errors import InputError
from swath.serve.guard import is_loopback

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

LEAST_TOKEN = 16
"""Letters of a token that cannot be guessed."""


def serve_http(server: MCPServer[Any], host: str, port: int, token: str | None) -> None:
    """Serve at http://HOST:PORT/mcp until interrupted.

    Args:
        server: what is served.
        host: address to listen on.
        port: port to listen on.
        token: what clients have to send as `Authorization: Bearer TOKEN`; None on loopback only.

    Raises:
        InputError: the address needs a token, or the token is too short.
    """
    import uvicorn

    check_token(host, token)
    names = [host, "localhost"] if is_loopback(host) else [host]
    allowed = [f"{f'[{name}]' if ':' in name else name}:{port}" for name in names]
    security = TransportSecuritySettings(allowed_hosts=allowed, allowed_origins=[f"http://{name}" for name in allowed])
    app: ASGIApp = server.streamable_http_app(host=host, transport_security=security)
    uvicorn.run(app if token is None else WithToken(app, token), host=host, port=port, log_level="warning")


def check_token(host: str, token: str | None) -> None:
    """Refuse an address that others can reach unless a token protects it.

    Raises:
        InputError: the token is missing or too short.
    """
    if token is None and not is_loopback(host):
        raise InputError(
            f"{host} can be reached from other machines, which needs a token. "
            "Next: set SWATH_TOKEN, or serve on 127.0.0.1."
        )
    if token is not None and len(token) < LEAST_TOKEN:
        raise InputError(f"The token has fewer than {LEAST_TOKEN} letters. Next: take a longer one.")


class WithToken:
    """Lets only those through who send the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 without the token."""
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(sent, self._expected):
                refusal = PlainTextResponse("Send the server's token as Authorization: Bearer TOKEN.", 401)
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
