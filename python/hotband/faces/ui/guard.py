"""Access control: only the page from this server, on this computer, may send requests.

A browser can be made to send requests to 127.0.0.1 by any page that it shows. Every request must pass four checks; each
stops most attacks, none stops all:

* **Host** must be the address that the server listens on. A name that an attacker's DNS lets point to 127.0.0.1 ("DNS
  rebinding") is another host, and is refused before anything else is examined.
* **Origin** and **Sec-Fetch-Site**, where a browser sends them, must be this server's own. A server on another port of
  the same computer is "same-site" but another origin, which cookies do not tell apart.
* A **token** of 256 random bits, new with every start, that only the printed address and the page hold: in the query of
  the address, in a cookie (HttpOnly, SameSite=Strict, named by the port) for what a browser fetches by itself, and in a
  header for whatever changes something, which no form and no image of another page can send.
* **Length**: bodies are bounded while they are read, not when they have been.

Left out: other users of this computer who can read this user's memory or files, and TLS, which loopback does not need.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_BYTES = 32
"""256 bits, which cannot be guessed (OWASP requires 128 for a session)."""
TOKEN_HEADER = "x-hotband-token"
LARGEST_BODY = 1 << 20
"""Largest request of a form in bytes; dropped files have their own limit (`uploads.LARGEST_FILE`)."""
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
OWN_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site for requests by this page, and by a user who types or clicks an address ("none")."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
"""Policy for reports, single files with their own scripts and styles: sandboxed, they have no origin, so that nothing
in them can call this server. Vega makes functions of expressions, which is 'unsafe-eval'."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class TooLong(Exception):
    """A body exceeded its limit."""


def new_token() -> str:
    """Return a token for one start of the server."""
    return token_urlsafe(TOKEN_BYTES)


class Guard:
    """Pass requests of this server's page, and add headers to every response."""

    def __init__(self, app: ASGIApp, token: str, port: int, unbounded: tuple[str, ...] = ()) -> None:
        self.app, self.token, self.unbounded = app, token, unbounded
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"hotband-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond 403 to forbidden requests, and pass others on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refused = self.refusal(scope)
        if refused:
            await PlainTextResponse(refused, 403)(scope, receive, self._with_headers(send))
            return
        bounded = receive if scope["path"] in self.unbounded else _bounded(receive)
        await self.app(scope, bounded, self._with_headers(send))

    def refusal(self, scope: Scope) -> str:
        """Return the reason to refuse a request; empty if it is allowed."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return "this server accepts requests at its own address only"
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return "other pages may not send requests to this server"
        entry = scope["method"] == "GET" and scope["path"] == "/"
        # A link on another program's page may lead here: either it has the token, or the cookie is not sent with it.
        if headers.get("sec-fetch-site", "none") not in OWN_SITE and not (entry and self._in_query(scope)):
            return "other pages may not send requests to this server"
        if scope["method"] in CHANGING:
            if not self._fits(headers.get(TOKEN_HEADER, "")):
                return "the token is missing or of an earlier start: open the address that hotband ui printed"
            return ""
        if self._in_query(scope) or self._fits(headers.get(TOKEN_HEADER, "")) or self._in_cookie(headers):
            return ""
        return "the token is missing or of an earlier start: open the address that hotband ui printed"

    def _in_query(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        return self._fits(given[0])

    def _in_cookie(self, headers: Headers) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self.cookie in cookies and self._fits(cookies[self.cookie].value)

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _with_headers(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        return sent


def _bounded(receive: Receive) -> Receive:
    """Read a body up to its limit. Raises TooLong."""
    read = 0

    async def received() -> Message:
        nonlocal read
        message = await receive()
        if message["type"] == "http.request":
            read += len(message.get("body", b""))
            if read > LARGEST_BODY:
                raise TooLong
        return message

    return received
