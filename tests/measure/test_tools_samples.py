"""What the tools printed on a real host, and what is read from it; the figures below were taken
from the recordings by eye.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homenode.hosts.adapter import Output
from homenode.hosts.adapters.pgbench import latencies_ms
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

SAMPLES = Path(__file__).parent / "samples"
Given = dict[str, str | int | float | bool]


def read(tool: str, file: str, given: Given) -> Output:
    one = adapter(tool)
    return one.parse(one.case("recorded", given), (SAMPLES / tool / file).read_bytes())


def test_fio_reads() -> None:
    output = read("fio", "randread.json", {"load": 2})
    assert output.work == pytest.approx(425.648128)
    assert output.seconds == pytest.approx(1.001)
    assert output.score == pytest.approx(425.648128 / 1.001)
    assert output.latency_ms["mean"] == pytest.approx(0.302401709463)
    assert output.latency_ms["p99"] == pytest.approx(0.593920)
    assert output.latency_ms["p99"] < output.latency_ms["p99.9"] < output.latency_ms["max"]
    assert output.latency_ms["max"] == pytest.approx(4.022727)
    assert output.details["iops"] == pytest.approx(51959 / 1.001)


def test_fio_reads_and_writes_are_one_work_and_the_worse_latency() -> None:
    output = read("fio", "randrw.json", {"mode": "randrw"})
    assert output.work == pytest.approx((141410304 + 141377536) / 1e6)
    assert output.latency_ms["mean"] == pytest.approx(0.239876445011)
    assert output.latency_ms["p99"] == pytest.approx(0.403456)
    assert output.details["iops"] == pytest.approx((17262 + 17258) / 1.001)


def test_pgbench_counts_what_was_done_once_connected() -> None:
    output = read("pgbench", "tpcb-like.txt", {"load": 2, "mode": "tpcb-like"})
    assert output.work == 192
    assert output.score == pytest.approx(195.022260)
    assert output.seconds == pytest.approx(192 / 195.022260)


def test_pgbench_logs_every_transaction(tmp_path: Path) -> None:
    """`client number microseconds script seconds microseconds`, a file a thread."""
    (tmp_path / "log.1").write_text("0 1 3000 0 1700000000 1\n0 2 1000 0 1700000000 2\n")
    (tmp_path / "log.1.1").write_text("1 1 2000 0 1700000000 3\n")
    found = latencies_ms(sorted(tmp_path.iterdir()))
    # Of three none lies beyond the 95th percentile.
    assert found == {"mean": 2.0, "p50": 2.0, "max": 3.0}
    many = "".join(f"0 {n} {n}000 0 1700000000 1\n" for n in range(1, 1001))
    (tmp_path / "log.1").write_text(many)
    assert latencies_ms([tmp_path / "log.1"]) == {
        "mean": 500.5,
        "p50": 500.0,
        "p95": 950.0,
        "p99": 990.0,
        "p99.9": 999.0,
        "max": 1000.0,
    }
    (tmp_path / "log.2").write_text("1 1 skipped\n")
    with pytest.raises(MeasureError, match="has no time"):
        latencies_ms(sorted(tmp_path.iterdir()))


def test_pgbench_that_failed_is_refused() -> None:
    text = (SAMPLES / "pgbench" / "tpcb-like.txt").read_bytes()
    one = adapter("pgbench")
    with pytest.raises(MeasureError, match="3 transactions failed"):
        one.parse(one.case("x", {}), text.replace(b"transactions: 0", b"transactions: 3"))


def test_iperf3_counts_what_was_received() -> None:
    output = read("iperf3", "read-2.json", {"load": 2, "direction": "read"})
    assert output.work == pytest.approx(1147.38)
    assert output.seconds == pytest.approx(1.000014)
    assert output.score == pytest.approx(9178911495.239067 / 8e6)
    assert output.details["retransmits"] == 32
    assert len(output.series) == 1


def test_iperf3_takes_more_streams_than_a_pair_has_by_several_pairs() -> None:
    one = adapter("iperf3")
    text = (SAMPLES / "iperf3" / "read-2.json").read_bytes()
    output = one.parse(one.case("x", {"load": 250}), text * 2)
    assert output.work == pytest.approx(2 * 1147.38)
    assert output.seconds == pytest.approx(1.000014)
    assert output.details["retransmits"] == 64
    assert output.series == pytest.approx([2 * 1147.363997155706])
    with pytest.raises(MeasureError, match="1 of 2 reports"):
        one.parse(one.case("x", {"load": 250}), text)


def test_sockperf_adds_up_its_clients() -> None:
    output = read("sockperf", "14-3.txt", {"load": 3})
    assert output.work == 29983 + 18350 + 38005
    assert output.seconds == pytest.approx(2.001)
    assert output.score == pytest.approx(output.work / 2.001)
    mean = (64.955 * 29983 + 115.526 * 18350 + 49.652 * 38005) / output.work
    assert output.latency_ms["mean"] == pytest.approx(mean / 1e3)
    assert output.latency_ms["p99"] == pytest.approx(2.749169)
    assert output.latency_ms["p99.9"] == pytest.approx(6.747831)
    assert "p95" not in output.latency_ms
    assert output.latency_ms["max"] == pytest.approx(9.236416)
    assert output.details["spread_s"] == 0.028


def test_sockperf_without_observations_is_no_measurement() -> None:
    """Recorded on a loaded host: a client may find none of its own messages good enough."""
    one = adapter("sockperf")
    text = (SAMPLES / "sockperf-refused" / "no-observations.txt").read_bytes()
    with pytest.raises(MeasureError, match="No valid observations"):
        one.parse(one.case("x", {"load": 3}), text)


def test_wrk_on_one_server() -> None:
    output = read("apache", "monolith.txt", {"tiles": 1, "client_threads": 4})
    assert output.work == 107747
    assert output.seconds == pytest.approx(2.098713)
    # wrk's own line: "Requests/sec:  51339.56".
    assert output.score == pytest.approx(51339.56, abs=0.005)
    assert output.latency_ms["p99"] == pytest.approx(54.473)
    assert output.latency_ms["p99.9"] == pytest.approx(103.137)
    assert output.details["megabytes"] == pytest.approx(129.835135)


def test_wrk_on_tiles_adds_up_their_rates() -> None:
    output = read("apache", "tiles.txt", {"tiles": 4})
    assert output.work == 24618 + 30458 + 22671 + 29199
    # The four lines "Requests/sec:" of wrk.
    assert output.score == pytest.approx(12044.87 + 14968.11 + 10800.67 + 14374.69, abs=0.02)
    assert output.work / output.seconds == pytest.approx(output.score)
    # The worst tile's, for percentiles do not add.
    assert output.latency_ms["p99.9"] == pytest.approx(96.839)
    assert output.latency_ms["max"] == pytest.approx(112.859)


@pytest.mark.parametrize(
    ("file", "work", "seconds", "mean_ms", "p95_ms", "samples"),
    [
        ("read-only.txt", 6428, 3.007902, 1.868839, 5.671079, 3),
        ("read-write.txt", 1115, 2.009200, 7.183277, 16.407929, 2),
    ],
)
def test_sysbench(
    file: str, work: int, seconds: float, mean_ms: float, p95_ms: float, samples: int
) -> None:
    output = read("sysbench", file, {"load": 4})
    assert output.work == work
    assert output.seconds == pytest.approx(seconds)
    assert output.score == pytest.approx(work / seconds)
    assert output.latency_ms["mean"] == pytest.approx(mean_ms)
    assert output.latency_ms["p95"] == pytest.approx(p95_ms)
    assert len(output.series) == samples
    # Four threads always under way: what they did times how long each took is their time.
    inside = output.score * output.latency_ms["mean"] / 1e3
    assert inside == pytest.approx(4.0, rel=0.02)


def test_sysbench_tells_more_places_where_it_lets_us_see() -> None:
    output = read("sysbench", "all-places.txt", {"load": 4})
    # The 95th percentile is told twice, by sysbench's total and by the last thread.
    assert output.latency_ms == {
        "mean": pytest.approx(1.214367),
        "p50": pytest.approx(1.101624),
        "p95": pytest.approx(4.736574),
        "p99": pytest.approx(7.297055),
        "p99.9": pytest.approx(12.081238),
        "max": pytest.approx(17.200741),
    }
    assert read("sysbench", "read-only.txt", {}).latency_ms.keys() == {"mean", "p95", "max"}


def test_duckdb_takes_the_time_of_all_questions() -> None:
    output = read("duckdb", "warm.json", {"scale": 0.05})
    assert output.work == 50
    assert output.score == pytest.approx(1.0452643789976719 / 5)
    assert len(output.series) == 5
    assert output.latency_ms == {}  # recorded before each asking was told
    one, text = adapter("duckdb"), (SAMPLES / "duckdb" / "warm.json").read_bytes()
    told = {**json.loads(text), "by_asking_s": [0.01, 0.02, 0.06]}
    again = one.parse(one.case("x", {"scale": 0.05}), json.dumps(told).encode())
    assert again.latency_ms == pytest.approx({"mean": 30.0, "p50": 20.0, "max": 60.0})
    by_question = output.details["by_question_s"]
    assert isinstance(by_question, dict)
    assert sum(by_question.values()) == pytest.approx(output.score, rel=0.05)


def test_requests() -> None:
    output = read("request", "200x1000-10.json", {"load": 10})
    assert output.work == 431003
    assert output.score == pytest.approx(431003 / 2.000215457)
    assert output.latency_ms["p99"] == pytest.approx(0.094207)
    assert output.latency_ms["p99.9"] == pytest.approx(3.670015)
    # Ten always under way, but for the last answers.
    assert output.score * output.latency_ms["mean"] / 1e3 == pytest.approx(10.0, rel=0.05)


NETPERF = b"""MIGRATED TCP REQUEST/RESPONSE TEST
THROUGHPUT=25000.50
THROUGHPUT_UNITS=Trans/s
ELAPSED_TIME=2.00
MEAN_LATENCY=39.50
P50_LATENCY=38
P90_LATENCY=45
P99_LATENCY=70
LOCAL_CPU_UTIL=80.00
LOCAL_SD=31.999
"""
"""Written by hand after netperf's manual: it is not installed where these tests were made."""


def test_netperf_by_its_manual() -> None:
    one = adapter("netperf")
    output = one.parse(one.case("x", {"request": 200, "response": 1000}), NETPERF)
    assert output.score == 25000.50
    assert output.work == 50001.0
    assert output.latency_ms == {"mean": 0.0395, "p50": 0.038, "p99": 0.07}
    with pytest.raises(MeasureError, match="10\\^6bits/s"):
        one.parse(one.case("x", {"test": "stream"}), NETPERF)


@pytest.mark.parametrize(
    ("given", "text", "score"),
    [
        ({"test": "call"}, b"Simple syscall: 0.0521 microseconds\n", 0.0521),
        ({"test": "transfer", "size_kib": 512}, b"0.524288 156656.12\n", 156656.12),
        (
            {"test": "chase", "size_kib": 1024},
            b'"stride=64\n0.00049 0.902\n0.50000 3.300\n1.00000 7.001\n',
            7.001,
        ),
    ],
)
def test_lmbench_by_its_manual(given: Given, text: bytes, score: float) -> None:
    """Written by hand after lmbench's manual pages, for the same reason."""
    one = adapter("lmbench")
    assert one.parse(one.case("x", given), text).score == score
    with pytest.raises(MeasureError, match="not in it"):
        one.parse(one.case("x", given), b"bw_mem: free(): invalid pointer\n")


@pytest.mark.parametrize(
    ("tool", "given", "text", "words"),
    [
        ("fio", {}, b"", "printed nothing"),
        ("fio", {}, b'{"jobs": []}', "one group"),
        ("fio", {}, b'{"jobs": [{"error": 22}]}', "error 22"),
        ("iperf3", {}, b'{"error": "unable to connect to server"}', "unable to connect"),
        ("iperf3", {}, b'{"end": {"sum_received": {"bytes": 0, "seconds": 1}}}', "did nothing"),
        ("sockperf", {}, b"sockperf: ERROR: Can't connect", "Can't connect"),
        ("sysbench", {}, b"FATAL: connection to server failed", "FATAL"),
        ("apache", {}, b"unable to connect to 127.0.0.1:1", "unable to connect"),
        ("request", {}, b"[1, 2]", "no JSON object"),
        ("duckdb", {}, b'{"passes": 1, "seconds": 1.0}', "not every question"),
    ],
)
def test_what_went_wrong_is_quoted(tool: str, given: Given, text: bytes, words: str) -> None:
    one = adapter(tool)
    with pytest.raises(MeasureError) as caught:
        one.parse(one.case("x", given), text)
    assert words in str(caught.value)


def test_pages_that_were_not_served_are_no_work() -> None:
    text = (SAMPLES / "apache" / "monolith.txt").read_bytes().replace(b'"status":0', b'"status":7')
    one = adapter("apache")
    with pytest.raises(MeasureError, match="7 status"):
        one.parse(one.case("x", {}), text)


def test_lost_messages_are_no_work() -> None:
    text = (SAMPLES / "sockperf" / "14-3.txt").read_bytes()
    text = text.replace(b"# dropped messages = 0", b"# dropped messages = 3", 1)
    one = adapter("sockperf")
    with pytest.raises(MeasureError, match="3 messages were lost"):
        one.parse(one.case("x", {"load": 3}), text)


def test_different_answers_to_the_same_question_are_no_measurement() -> None:
    text = (SAMPLES / "duckdb" / "warm.json").read_bytes()
    one = adapter("duckdb")
    with pytest.raises(MeasureError, match="differently"):
        one.parse(one.case("x", {}), text.replace(b'"answers": [', b'"answers": ["other", '))


def test_a_figure_beyond_all_bounds_is_refused() -> None:
    one = adapter("request")
    text = b'{"transactions": 1e308, "seconds": 1e-300, "latency_us": {}}'
    with pytest.raises(MeasureError, match="cannot be used"):
        one.parse(one.case("x", {}), text)
