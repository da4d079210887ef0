"""Who may ask what: hosts, tokens, origins, and the headers of every answer."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Collection
from html import escape
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_LOCAL = ("localhost", "127.0.0.1", "::1")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""What a page of elsewhere can make a browser send."""
_TOKEN, _VISITOR = "homenode-token", "homenode-visitor"
_COOKIE = "; Path=/; HttpOnly; SameSite=Strict"


def is_local(host: str) -> bool:
    """Whether only this machine reaches it."""
    return host in _LOCAL


class Guard:
    """Stands before the app. `token` is None where none is needed."""

    def __init__(
        self, app: ASGIApp, host: str, token: str | None, names: Collection[str] = ()
    ) -> None:
        self._app = app
        self._token = token
        own = () if is_local(host) else (socket.gethostname(), socket.getfqdn())
        self._names = {*_LOCAL, host, *own, *names}
        self._any_address = not is_local(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses, or hands on with the visitor in the scope."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        cookies = cookie_parser(headers.get("cookie", ""))
        visitor = cookies.get(_VISITOR, "")
        fresh = not _is_id(visitor)
        scope["visitor"] = visitor = secrets.token_hex(16) if fresh else visitor

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    out.setdefault(name, value)
                if fresh:
                    out.append("Set-Cookie", f"{_VISITOR}={visitor}{_COOKIE}")
            await send(message)

        refusal = self._refusal(scope, headers, cookies)
        await (refusal or self._app)(scope, receive, marked)

    def _refusal(self, scope: Scope, headers: Headers, cookies: dict[str, str]) -> Response | None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            name = f"this server is not {host or 'without a name'}"
            return _said(scope, 421, name, "open it by its own address, or start it with --name")
        if self._token is not None:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if scope["path"] == "/" and self._fits(given):
                answer = RedirectResponse("/", 303)
                answer.headers.append("Set-Cookie", f"{_TOKEN}={self._token}{_COOKIE}")
                return answer
            bearer = headers.get("authorization", "").removeprefix("Bearer ")
            if not (self._fits(cookies.get(_TOKEN, "")) or self._fits(bearer)):
                step = "open the address with ?token=... that homenode serve printed"
                return _said(scope, 401, "a token is needed here", step)
        if scope["path"].startswith("/api") and headers.get("sec-fetch-site") == "cross-site":
            return _said(scope, 403, "asked from a page of elsewhere", "open the page itself")
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return _said(
                scope, 403, f"asked from {origin}, which is elsewhere", "open the page itself"
            )
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in _FORMS or (not kind and scope["method"] != "DELETE"):
            return _said(
                scope, 415, "the kind of content is none that is taken", "send JSON or a file"
            )
        return None

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._token or "").encode())

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_id(text: str) -> bool:
    return len(text) == 32 and all(one in "0123456789abcdef" for one in text)


def _said(scope: Scope, status: int, message: str, step: str) -> Response:
    """As JSON to programs, and as a page to a person who opened the address."""
    if not scope["path"].startswith("/api") and "text/html" in Headers(scope=scope).get(
        "accept", ""
    ):
        return HTMLResponse(
            _PAGE.format(*(escape(f"{one[:1].upper()}{one[1:]}.") for one in (message, step))),
            status,
        )
    return JSONResponse({"error": {"message": message, "next_step": step, "where": None}}, status)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>homenode</title>
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>homenode</h1><p><strong>{}</strong></p><p>{}</p></main></body></html>
"""
