"""Apache's many files, and what its clients ask for."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from scripted import ScriptedBench

from homenode.hosts.adapters.apache import _Tile
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.live.packages import find


def test_apache_has_a_file_for_every_name_that_is_drawn(tmp_path: Path) -> None:
    """By a server of our own, which notes what wrk asks for."""
    if find("wrk") is None:
        pytest.skip("wrk is not here")
    one, bench = adapter("apache"), ScriptedBench(tmp_path)
    case = one.case("x", {"files": 2500, "page": 10, "load": 1})
    one.prepare(case, bench)
    pages = bench.data / "pages"
    there = {f"/{path.relative_to(pages)}" for path in pages.rglob("*") if path.is_file()}
    assert len(there) == 2500
    client = _Tile(case, 0, bench.folder, "127.0.0.1", 80)
    asked = [asked_of(client.wrk(1)) for _ in range(2)]
    assert len(set(asked[0])) > 1
    assert set(asked[0]) <= there
    # The same draws each time, as far as both came.
    both = min(map(len, asked))
    assert asked[0][:both] == asked[1][:both]


def asked_of(argv: Sequence[str]) -> list[str]:
    """The paths that wrk asks for in a second, of a server that notes them."""
    found: list[str] = []

    class Noting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Noting) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        words = list(argv)
        at = next(i for i, word in enumerate(words) if word.startswith("http://"))
        words[at] = f"http://127.0.0.1:{server.server_port}/page"
        subprocess.run(words, check=True, capture_output=True)
        server.shutdown()
        serving.join()
    return found
