"""What a file is: known by one format, by none, or by two."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.records.importing import recognise as module
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_paths
from homenode.records.importing.opening.contents import InMemory, Input
from homenode.records.importing.opening.sources import ListingError, head_text, source_of
from homenode.records.importing.recognise import file_formats, recognise, tree_formats

SAMPLES = {
    "CSV of samples": ("a.csv", "timestamp,name,cpu\n0,a,1\n"),
    "Bitbrains CSV": (
        "1.csv",
        "Timestamp [ms];\tCPU cores;\tCPU capacity provisioned [MHZ];\tCPU usage [MHZ]\n",
    ),
    "PlanetLab": ("host_1", "\n".join(["12"] * 20)),
    "RVTools CSV": ("v.csv", "VM,Powerstate,Template,CPUs,Memory\n"),
    "homenode configuration": ("configuration.csv", "partition,number,os,mode\n"),
    "homenode tables": ("pool.csv", "time,time_s,seconds,pool,cores\n"),
    "hyptop": ("h.txt", "12:30:48 | cpu-t: IFL(18)                 ?=help\nsystem #core\n"),
    "Performance Toolkit": ("f.txt", "FCX126      CPU 3906  SER .....  Interval 00:00:00 - 1\n"),
    "Prometheus text": ("m.prom", "# TYPE zhmc_cpc_power_watt gauge\n"),
}


def given(data: bytes, name: str = "a") -> Input:
    return Input(name, name, InMemory(data))


@pytest.fixture
def two_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    class Any:
        name = "anything"

        def recognises(self, head: bytes, name: str) -> bool:
            return True

        def read(self, source: object, facts: Facts) -> None:
            raise AssertionError(source, facts)

    there = (Any(), *file_formats())
    monkeypatch.setattr(module, "file_formats", lambda: there)


def test_every_format_has_a_name_of_its_own() -> None:
    names = [one.name for one in file_formats()]
    assert len(set(names)) == len(names) > 10
    assert len({one.name for one in tree_formats()}) == len(tree_formats()) > 0


@pytest.mark.parametrize("format_name", SAMPLES)
def test_a_beginning_is_claimed_once(format_name: str) -> None:
    name, text = SAMPLES[format_name]
    for data in (text.encode(), text.encode("utf-8-sig"), text.replace("\n", "\r\n").encode()):
        assert recognise(given(data, name)).name == format_name


def test_an_unknown_file_is_named_with_its_first_line() -> None:
    with pytest.raises(ListingError) as caught:
        recognise(given(b"\n\n  what is this\nx\n"))
    assert str(caught.value) == 'a:3: it is of no format that is known: it begins "what is this"'
    with pytest.raises(ListingError, match="it holds no text"):
        recognise(given(b"\x7fELF\0\0\0"))


@pytest.mark.usefixtures("two_formats")
def test_a_file_that_two_claim_is_taken_by_none() -> None:
    with pytest.raises(ListingError, match="it could be anything or CSV of samples"):
        recognise(given(b"timestamp,name,cpu\n0,a,1\n"))


def test_text_in_any_encoding() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert head_text("größe\n".encode(encoding)) == "größe\n"
    assert head_text("größe\n".encode("latin-1")) == "größe\n"
    assert head_text("aé".encode()[:-1]) == "a"
    assert source_of("a", "aé".encode("utf-16")[:-1]).text == "a"


def test_a_dump_that_no_reader_knows_is_one_line_of_the_report(tmp_path: Path) -> None:
    for number in range(30):
        folder = tmp_path / "sys/devices/strange"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(number)).write_text("1\n")
    facts = read_paths([tmp_path])
    assert [(one.file, one.why) for one in facts.left] == [
        (str(tmp_path), "no reader knows these 30 files of /proc and /sys")
    ]
