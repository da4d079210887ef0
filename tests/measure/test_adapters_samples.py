"""What tools and kernels printed on a real host, and what is read from it; the figures below were
taken from the recordings by eye.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.hosts.adapter import Output
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

SAMPLES = Path(__file__).parent / "samples"
Given = dict[str, str | int | float | bool]


def parse(tool: str, given: Given, text: bytes) -> Output:
    one = adapter(tool)
    return one.parse(one.case("recorded", given), text)


def read(tool: str, file: str, given: Given) -> Output:
    return parse(tool, given, (SAMPLES / tool / file).read_bytes())


def test_a_call_takes_the_middle_batch_s_time() -> None:
    output = read("kernels", "getpid.json", {"kernel": "getpid"})
    assert output.work == 126975
    assert output.seconds == pytest.approx(0.053054655)
    assert output.score == pytest.approx(100.24774169921875)
    assert output.details["ns_min"] == pytest.approx(97.7257080078125)


def test_a_hop_comes_with_what_the_pipe_alone_costs() -> None:
    output = read("kernels", "context-4.json", {"kernel": "context", "load": 4})
    assert output.score == pytest.approx(3540.6728515625)
    assert output.details["pipe_ns"] == pytest.approx(377.09716796875)


def test_memory_counts_what_was_moved() -> None:
    given: Given = {"kernel": "memory", "operation": "copy", "bytes": 1 << 20, "load": 2}
    output = read("kernels", "copy-1m-2.json", given)
    assert output.work == pytest.approx(401.604608)
    assert output.seconds == pytest.approx(0.099706178)
    assert output.score == pytest.approx(80809.53750282186)
    assert output.details["huge_bytes"] == 0


def test_a_chase_tells_its_pages() -> None:
    given: Given = {"kernel": "chase", "bytes": 4 << 20, "pages": "huge"}
    output = read("kernels", "chase-4m.json", given)
    assert output.work == 32767
    assert output.score == pytest.approx(4029.9962158203125)
    assert output.details["huge_bytes"] == 4 << 20


def test_loops_last_until_the_last_of_them() -> None:
    output = read("loops", "three.json", {"load": 3, "turns": 20_000_000})
    assert output.work == 3
    assert output.seconds == output.score == pytest.approx(0.184708405)
    assert output.details["nivcsw"] == [16, 14, 13]
    elapsed = output.details["elapsed_s"]
    assert isinstance(elapsed, list)
    assert elapsed == pytest.approx([0.160298093, 0.184708405, 0.148203506])
    assert output.details["run_delay_s"] == pytest.approx([0.114181779, 0.164785419, 0.112651285])


def test_dbench_on_disk() -> None:
    output = read("dbench", "disk-2.txt", {"load": 2})
    assert output.score == pytest.approx(604.4)
    assert output.seconds == 1.0
    assert output.work == pytest.approx(604.4)
    # The mean over 215,385 calls, each kind by its own.
    assert output.latency_ms == {"mean": pytest.approx(0.01722924), "max": 10.449}
    counts = output.details["counts"]
    assert isinstance(counts, dict)
    assert counts["Flush"] == 2613
    assert sum(counts.values()) == output.details["operations"]


def test_tbench_on_loopback() -> None:
    output = read("tbench", "loopback-2.txt", {"load": 2})
    assert output.score == pytest.approx(1241.66)
    assert output.series == [pytest.approx(1241.66)]


def test_a_mix_weighs_its_kinds_against_each_other() -> None:
    output = read("stressng", "fserver-1.yaml", {"mix": "fserver"})
    assert output.details["hdd_ops"] == 9728
    jobs = 9728 / 29_000 + 45175 / 140_000 + 8192 / 19_000 + 4482 / 9600
    assert output.work == pytest.approx(jobs)
    assert output.seconds == pytest.approx(2.965533)
    assert output.score == pytest.approx(60.0 * jobs / 2.965533)


@pytest.mark.parametrize(
    ("mix", "file"), [("new-db", "new-db-1.yaml"), ("compute", "compute-2.yaml")]
)
def test_every_kind_of_a_mix_is_told(mix: str, file: str) -> None:
    output = read("stressng", file, {"mix": mix})
    assert sum(key.endswith("_ops") for key in output.details) == {"new-db": 4, "compute": 5}[mix]
    assert output.score > 0.0


def test_hackbench_counts_all_messages() -> None:
    output = read("hackbench", "sockets-2.txt", {"load": 2, "loops": 200})
    assert output.work == 2 * 20 * 20 * 200
    assert output.seconds == output.score == pytest.approx(0.267)


def test_a_program_s_run() -> None:
    output = read("integer", "xz.json", {"program": "xz"})
    assert (output.work, output.score) == (1.0, pytest.approx(2.766243))
    assert output.details["product_bytes"] == 299412


def test_jmh_s_iterations() -> None:
    output = read("jmh", "two-warehouses.json", {"load": 2})
    assert output.score == pytest.approx(985057.260552607)
    assert output.seconds == pytest.approx(2.0)
    assert output.work == pytest.approx(2.0 * 985057.260552607)
    assert output.series == pytest.approx(
        [786932.13566164, 942246.265858617, 1153250.1613508957, 1057800.4793392753]
    )
    assert output.details["jdkVersion"] == "17.0.15"


@pytest.mark.parametrize(
    ("tool", "file", "given", "words"),
    [
        ("kernels", "getpid.json", {"kernel": "stat"}, "not of the kernel stat"),
        ("loops", "three.json", {"load": 4, "turns": 20_000_000}, "3 loops of 4"),
        ("loops", "three.json", {"load": 3, "turns": 30_000_000}, "30000000 turns"),
        ("dbench", "disk-2.txt", {"load": 3}, "3 clients"),
        ("stressng", "fserver-1.yaml", {"mix": "compute"}, "nothing of cpu, fp"),
        ("hackbench", "sockets-2.txt", {"load": 4}, "4 groups"),
        ("integer", "xz.json", {"program": "perl"}, "not of perl"),
        ("jmh", "two-warehouses.json", {"load": 1}, "1 threads"),
    ],
)
def test_another_case_s_output_is_refused(tool: str, file: str, given: Given, words: str) -> None:
    with pytest.raises(MeasureError) as caught:
        read(tool, file, given)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("tool", "given", "text", "words"),
    [
        ("kernels", {"kernel": "pipe"}, b"forking: out of memory", "out of memory"),
        (
            "hackbench",
            {"load": 1},
            b"Running in process mode with 1 groups using 40 file descriptors\nTime: 0.000\n",
            "more `loops`",
        ),
        (
            "integer",
            {"program": "xz"},
            b'{"program": "xz", "seconds": 0.1, "bytes": 0}',
            "made nothing",
        ),
        ("dbench", {}, b"failed to create directory", "failed to create"),
        ("jmh", {}, b"[]", "not of one benchmark"),
    ],
)
def test_what_went_wrong_is_told(tool: str, given: Given, text: bytes, words: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse(tool, given, text)
    assert words in str(caught.value)
