"""Who may ask the server what: checks of host, origin and token before anything else sees a request.

The page's own protection is a strict content policy; browsers' cross-site requests are refused by `Origin` and
`Sec-Fetch-Site`, DNS rebinding by the list of host names, and everyone on the network by a token where the server
listens to more than this machine.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from html import escape
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD")
LEAST_TOKEN_LETTERS = 16
GUESSES, GUESSES_IN_S = 10, 60.0
"""Wrong tokens from one address in a minute; after these it is not listened to for the rest of it."""
MOST_ADDRESSES = 10_000


@dataclass
class Guesses:
    """Wrong tokens by address, the oldest address forgotten first."""

    _by_address: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)

    def too_many(self, address: str) -> bool:
        """Whether an address has guessed too often of late."""
        times = self._by_address.get(address, deque())
        while times and times[0] < monotonic() - GUESSES_IN_S:
            times.popleft()
        return len(times) >= GUESSES

    def note(self, address: str) -> None:
        """Remember a wrong token."""
        self._by_address.setdefault(address, deque()).append(monotonic())
        self._by_address.move_to_end(address)
        if len(self._by_address) > MOST_ADDRESSES:
            self._by_address.popitem(last=False)


@dataclass
class Guard:
    """Refuses requests that are not for this server, not from its own pages, or without its token.

    Attributes:
        app: what allowed requests are passed on to.
        hosts: names by which the server may be called.
        any_address: whether any IP address will do as a name, which no rebinding can use.
        token: what a client has to show; None for a server that listens to this machine only.
        policy: the content policy of answers that name none.
    """

    app: ASGIApp
    hosts: frozenset[str]
    any_address: bool
    token: str | None
    policy: str
    _guesses: Guesses = field(default_factory=Guesses)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        await (refusal or self.app)(scope, receive, self._hardened(send))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._host_fits(headers.get("host", "")):
            return sentence(scope, 421, "This server does not go by that name. Next: use the address that it printed.")
        if not _own_request(scope, headers):
            return sentence(scope, 403, "Requests from other sites are refused. Next: use the server's own page.")
        return self._without_token(scope, headers)

    def _host_fits(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request without a token, None where it has one or needs none."""
        if self.token is None or self._has_cookie(headers):
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        named = query.pop("token", [""])[0]
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer if scheme.lower() == "bearer" else named
        address = (scope.get("client") or ("",))[0]
        if given and self._guesses.too_many(address):
            return sentence(
                scope, 429, "Too many wrong tokens. Next: wait a minute and use the address that it printed."
            )
        if given and hmac.compare_digest(given.encode(), self.token.encode()):
            return None if bearer else self._welcome(scope, urlencode(query, doseq=True))
        if given:
            self._guesses.note(address)
        return sentence(
            scope, 401, "This server needs its token. Next: open the address that it printed when it began."
        )

    def _welcome(self, scope: Scope, query: str) -> Response:
        """To the same page without the token in its address, which histories keep."""
        path = "/" + scope["path"].lstrip("/\\")
        response = RedirectResponse(path + (f"?{query}" if query else ""), status_code=303)
        response.set_cookie(
            self._cookie, self._proof(), httponly=True, samesite="lax", secure=scope["scheme"] == "https", path="/"
        )
        return response

    def _has_cookie(self, headers: Headers) -> bool:
        shown = [
            value
            for name, _, value in (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
            if name == self._cookie
        ]
        return any(hmac.compare_digest(value.encode(), self._proof().encode()) for value in shown)

    @property
    def _cookie(self) -> str:
        """Its name; two servers of one machine have different ones."""
        return f"swath-{self._proof()[:8]}"

    def _proof(self) -> str:
        """What the cookie holds: it shows that its owner had the token, and is not the token."""
        return hmac.new((self.token or "").encode(), b"swath cookie", hashlib.sha256).hexdigest()

    def _hardened(self, send: Send) -> Send:
        async def harden(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers().items():
                    headers.setdefault(name, value)
            await send(message)

        return harden

    def _headers(self) -> dict[str, str]:
        return {
            "content-security-policy": self.policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": "no-store",
        }


def _own_request(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    A link from elsewhere may lead to a page, which shows it and changes nothing.
    """
    site = headers.get("sec-fetch-site", "none")
    if scope["method"] in SAFE:
        navigation = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return site in ("none", "same-origin") or (navigation and not scope["path"].startswith("/api/"))
    origin = headers.get("origin")
    if origin is None:
        return site in ("none", "same-origin")
    return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() and site in ("none", "same-origin")


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def sentence(scope: Scope, status: int, text: str) -> Response:
    """A refusal: JSON for programs, a page for people; what else the client sends is not read."""
    headers = None if scope["method"] in SAFE else {"connection": "close"}
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": text}, status_code=status, headers=headers)
    page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>swath</title><p>{escape(text)}</p></html>'
    return HTMLResponse(page, status_code=status, headers=headers)


def content_policy(base_map: str | None) -> str:
    """What the page may load: its own files, and the tiles of a base map where the user named one."""
    images = "'self' data: blob:" + (f" {_origin(base_map)}" if base_map else "")
    rules: dict[str, Any] = {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": images,
        "connect-src": "'self'", "form-action": "'self'", "frame-ancestors": "'none'", "base-uri": "'none'",
        "require-trusted-types-for": "'script'", "trusted-types": "default",
    }  # fmt: skip
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.replace('{s}', '*')}"
