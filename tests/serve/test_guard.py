"""Who may ask what: hosts, origins, kinds of content, tokens; what every answer says of itself."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

JSON = {"content-type": "application/json"}
TOKEN = "abcdefghijklmnopqrst"


@pytest.mark.parametrize("path", ["/", "/api/start", "/api/nothing"])
def test_every_answer_forbids_scripts_of_elsewhere(client: httpx.Client, path: str) -> None:
    told = client.get(path).headers
    policy = told["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert told["x-content-type-options"] == "nosniff"
    assert told["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in told


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.0.2.7", "[", ""])
def test_another_name_is_refused(client: httpx.Client, host: str) -> None:
    assert client.get("/api/start", headers={"host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:9", "[::1]:8311"])
def test_names_of_loopback_are_its_own(client: httpx.Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_nothing_is_done_for_another_origin(client: httpx.Client, origin: str) -> None:
    told = client.post("/api/layout", headers={**JSON, "origin": origin}, content=b"{}")
    assert told.status_code == 403
    own = str(client.base_url).rstrip("/")
    assert client.post("/api/layout", headers={**JSON, "origin": own}, content=b"{}").json()
    far = {"sec-fetch-site": "cross-site"}
    assert client.get("/api/start", headers=far).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]
)
def test_what_a_form_can_send_is_refused(client: httpx.Client, kind: str) -> None:
    told = client.post("/api/layout", headers={"content-type": kind}, content=b"{}")
    assert told.status_code == 415
    assert client.post("/api/layout", content=b"{}").status_code == 415


def test_a_visitor_is_known_by_a_cookie_of_this_site(client: httpx.Client) -> None:
    client.cookies.clear()
    cookie = client.get("/").headers["set-cookie"]
    assert "homenode-visitor=" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "set-cookie" not in client.get("/").headers
    client.cookies.clear()
    forged = {"cookie": "homenode-visitor=../../etc"}
    assert "set-cookie" in client.get("/", headers=forged).headers


@pytest.mark.parametrize("path", ["/", "/assets/main.js", "/api/start", "/?token=wrong"])
@pytest.mark.parametrize(
    "more", [{}, {"authorization": "Bearer wrong"}, {"cookie": "homenode-token=x"}]
)
def test_without_its_token_nothing_is_shown(
    guarded: httpx.Client, path: str, more: dict[str, str]
) -> None:
    told = guarded.get(path, headers=more)
    assert told.status_code == 401
    assert "token" in told.json()["error"]["message"]


def test_a_token_opens_the_page_once_and_then_stays_out_of_the_address(
    guarded: httpx.Client,
) -> None:
    told = guarded.get(f"/?token={TOKEN}")
    assert told.status_code == 303
    assert told.headers["location"] == "/"
    cookies = told.headers.get_list("set-cookie")
    assert all("HttpOnly" in one and "SameSite=Strict" in one for one in cookies)
    assert guarded.get("/").status_code == 200
    guarded.cookies.clear()
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/start", headers=bearer).json()["local"] is False
    assert guarded.get("/api/start").status_code == 401


@pytest.mark.parametrize("word", ["short", "with space in a long one", "ключ-ключ-ключ-ключ", ""])
def test_a_token_that_is_guessed_or_no_address_is_refused(command: Any, word: str) -> None:
    done = command("serve", "--no-browser", "--port", "0", "--token", word)
    assert done.returncode == 2
    assert "--token" in done.stderr
