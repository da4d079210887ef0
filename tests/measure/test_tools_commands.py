"""What the adapters start, in which role, and what falls into the measured time; nothing runs."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from scripted import Answer, ScriptedBench

from homenode.hosts.adapter import Output
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

SAMPLES = Path(__file__).parent / "samples"
Given = dict[str, str | int | float | bool]


def sample(tool: str, file: str) -> Answer:
    return Answer((SAMPLES / tool / file).read_bytes())


def measured(tool: str, given: Given, bench: ScriptedBench, seconds: float = 2.0) -> Output:
    one = adapter(tool)
    return one.measure(one.case("x", given), bench, seconds=seconds)


def test_fio_reads_the_file_it_wrote(tmp_path: Path) -> None:
    bench = ScriptedBench(tmp_path, {"fio": [Answer(), sample("fio", "randread.json")]})
    one = adapter("fio")
    case = one.case("x", {"load": 2, "depth": 4, "size_mib": 64, "block_kib": 16})
    one.prepare(case, bench)
    one.measure(case, bench, seconds=1.5)
    fill, run = bench.calls
    assert f"--filename={bench.data}/blocks" in fill.argv
    assert f"--filename={bench.data}/blocks" in run.argv
    for word in ("--runtime=1.5s", "--numjobs=2", "--iodepth=4", "--bs=16k", "--direct=1"):
        assert word in run.argv
    assert bench.timed() == [run]


def test_iperf3_reverses_for_reads(tmp_path: Path) -> None:
    for direction in ("read", "write"):
        base = tmp_path / direction
        bench = GatedBench(base, {"sh": [sample("iperf3", "read-2.json")]})
        measured("iperf3", {"load": 2, "direction": direction, "block": 4096}, bench)
        server, client = bench.calls
        assert (server.role, client.role) == ("server", "client")
        assert "-1" in server.argv
        assert "127.0.0.1" in server.argv
        assert ("-R" in client.argv) == (direction == "read")
        assert client.argv[client.argv.index("-l") + 1] == "4096"
        assert bench.timed() == []


def test_iperf3_shares_many_streams_among_pairs(tmp_path: Path) -> None:
    bench = GatedBench(tmp_path, {"sh": [sample("iperf3", "read-2.json")]})
    measured("iperf3", {"load": 257}, bench)
    clients = [call for call in bench.calls if call.role == "client"]
    assert [client.argv[client.argv.index("-P") + 1] for client in clients] == ["86", "86", "85"]
    assert len({client.argv[client.argv.index("-p") + 1] for client in clients}) == 3


def test_sysbench_works_on_a_copy_where_it_writes(tmp_path: Path) -> None:
    answers = {
        "sysbench": [sample("sysbench", "read-write.txt")],
        "psql": [Answer(b"100|100"), Answer(b"400|200")],
    }
    for mode, hits in (("read-write", "low"), ("read-only", "high")):
        bench = GatedBench(tmp_path / mode, answers)
        ready(bench)
        output = measured("sysbench", {"mode": mode, "hits": hits, "load": 4}, bench)
        programs = [call.program for call in bench.calls]
        assert ("cp" in programs) == (mode == "read-write")
        server = bench.calls[programs.index("postgres")]
        folder = bench.folder if mode == "read-write" else bench.data
        assert str(folder / "postgres" / "cluster") in server.argv
        assert "listen_addresses=127.0.0.1" in server.argv
        assert f"shared_buffers={12 if hits == 'low' else 198}MB" in server.argv
        assert server.user == ("postgres" if os.geteuid() == 0 else None)
        assert bench.timed() == []
        timed = [call for call in bench.calls if call.program == "sysbench"][-1]
        assert timed.env["HOMENODE_OLTP"] == f"oltp_{mode.replace('-', '_')}"
        assert timed.env["PGPASSWORD"] == "secret"
        assert not any("secret" in word for call in bench.calls for word in call.argv)
        assert programs[-1] == "pg_ctl"
        assert output.work == 1115


@pytest.mark.parametrize(("rate", "words"), [(0, []), (500, ["--rate=500"])])
def test_sysbench_asks_at_a_rate_where_one_is_given(
    tmp_path: Path, rate: int, words: list[str]
) -> None:
    answers = {
        "sysbench": [sample("sysbench", "read-only.txt")],
        "psql": [Answer(b"100|100"), Answer(b"400|200")],
    }
    bench = GatedBench(tmp_path, answers)
    ready(bench)
    measured("sysbench", {"rate": rate, "load": 4}, bench)
    for call in bench.calls:
        if call.program == "sysbench":
            assert [word for word in call.argv if word.startswith("--rate")] == words


def test_sysbench_tells_the_hit_ratio_of_the_measured_time(tmp_path: Path) -> None:
    answers = {
        "sysbench": [sample("sysbench", "read-only.txt")],
        "psql": [Answer(b"100|100"), Answer(b"400|200")],
    }
    bench = GatedBench(tmp_path, answers)
    ready(bench)
    output = measured("sysbench", {"hits": "low"}, bench)
    assert output.details["buffer_hit_share"] == pytest.approx(300 / 400)


def test_a_server_that_dies_at_once_is_quoted(tmp_path: Path) -> None:
    refused = Answer(stderr=b"could not bind: Address already in use", code=1)
    bench = ScriptedBench(tmp_path, {"postgres": [refused]})
    ready(bench)
    (bench.data / "postgres" / "cluster" / "postmaster.pid").unlink()
    with pytest.raises(MeasureError, match="Address already in use"):
        measured("sysbench", {}, bench)


def ready(bench: ScriptedBench) -> None:
    """What `prepare` leaves, and a server's word that it answers."""
    for base in (bench.data, bench.folder):
        cluster = base / "postgres" / "cluster"
        cluster.mkdir(parents=True)
        (base / "postgres" / "password").write_text("secret")
        (cluster / "postmaster.pid").write_text("1\n2\n3\n4\n5\n6\n7\nready   \n")


def test_tiles_share_what_the_monolith_has(tmp_path: Path) -> None:
    answers = {1: sample("apache", "monolith.txt")}
    lines = (SAMPLES / "apache" / "tiles.txt").read_bytes().splitlines(keepends=True)
    reports = [line for line in lines if line.startswith(b"{")]
    for tiles in (1, 4):
        words = (
            [Answer(), answers[1]]
            if tiles == 1
            else [
                *[Answer()] * 4,
                *[Answer(report) for report in reports],
            ]
        )
        bench = GatedBench(tmp_path / str(tiles), {"sh": words})
        output = measured("apache", {"tiles": tiles, "load": 32, "client_threads": 4}, bench)
        servers = [call for call in bench.calls if call.program == "apache2"]
        clients = [call for call in bench.calls if call.program == "sh"]
        assert len(servers) == tiles
        assert len(clients) == 2 * tiles  # once to warm up
        assert all(f"-c{32 // tiles}" in client.argv for client in clients)
        assert all(f"-t{4 // tiles}" in client.argv for client in clients)
        roles = {call.role for call in bench.calls}
        assert len(roles) == 2 * tiles
        # All clients stand at their gates when the time begins: none is started in it.
        assert bench.timed() == []
        assert output.work == (107747 if tiles == 1 else 106946)


def test_apache_is_never_root_and_listens_on_loopback_only(tmp_path: Path) -> None:
    bench = GatedBench(tmp_path, {"sh": [sample("apache", "monolith.txt")]})
    measured("apache", {}, bench)
    server = next(call for call in bench.calls if call.program == "apache2")
    assert server.user == "www-data"
    configuration = Path(server.argv[server.argv.index("-f") + 1]).read_text()
    listening = [line for line in configuration.splitlines() if line.startswith("Listen")]
    assert len(listening) == 1
    assert listening[0].startswith("Listen 127.0.0.1:")


class GatedBench(ScriptedBench):
    """Somebody stands at the gate of every started client, as the client would."""

    def start(self, argv, **words):  # type: ignore[no-untyped-def]  # as its base
        if argv[0] == "sh":
            gate = Path(argv[3])
            threading.Thread(target=gate.read_bytes, daemon=True).start()
        if argv[-3:-1] == ["kernels", "ask"] or "ask" in argv:
            gate = Path(json.loads(argv[-1])["gate"])
            threading.Thread(target=gate.read_bytes, daemon=True).start()
        if "HOMENODE_GATE" in (words.get("env") or {}):
            gate = Path(words["env"]["HOMENODE_GATE"])
            threading.Thread(target=gate.read_bytes, daemon=True).start()
        return super().start(argv, **words)


def test_requests_go_through_our_kernels(tmp_path: Path) -> None:
    told = b'{"transactions": 1000, "seconds": 2.0, "latency_us": {"mean": 20.0, "p50": 19.0,'
    told += b' "p95": 30.0, "p99": 40.0, "p99.9": 45.0, "max": 50.0}}\n'
    bench = GatedBench(tmp_path, {Path(os.sys.executable).name: [Answer(told)]})
    output = measured("request", {"load": 10, "request": 200, "response": 30000}, bench)
    server, clients = bench.calls
    assert server.argv[-2] == "answer"
    assert json.loads(server.argv[-1])["response"] == 30000
    asked = json.loads(clients.argv[-1])
    assert (asked["connections"], asked["request"], asked["seconds"]) == (10, 200, 2.0)
    assert output.score == 500.0
    assert output.latency_ms["p99"] == 0.04


def test_duckdb_begins_when_its_process_is_ready(tmp_path: Path) -> None:
    python = Path(os.sys.executable).name
    bench = ScriptedBench(tmp_path, {python: [sample("duckdb", "warm.json")]})
    (bench.folder / "ready").touch()
    measured("duckdb", {"scale": 0.05}, bench)
    (worker,) = bench.calls
    order = json.loads(worker.argv[-1])
    assert order["threads"] == 2
    assert order["cold"] is False
    assert (bench.folder / "go").exists()
    assert bench.timed() == []


def test_netperf_asks_for_the_sizes(tmp_path: Path) -> None:
    told = b"THROUGHPUT=10\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=2\n"
    bench = ScriptedBench(tmp_path, {"netperf": [Answer(told)]})
    output = measured("netperf", {"test": "stream"}, bench)
    assert output.score == 1.25
    server, client = bench.calls
    assert "127.0.0.1" in server.argv
    assert "TCP_STREAM" in client.argv
    assert bench.timed() == [client]
