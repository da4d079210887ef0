"""Damaged files of every format and every kind of archive: something is taken or left, nothing is
raised but an error for people, and what is taken can be reckoned with.

The samples of each format are the seeds of the fuzzer, or lie beside. The same damage at the level
of the parsers is in `crates/captures/tests/damaged`.
"""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import math
import os
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import polars as pl
import pyarrow as pa
import pytest

from damage import BINARY_DAMAGES, TEXT_DAMAGES, Damage, damaged
from homenode.errors import HomenodeError
from homenode.records.importing import read_paths
from homenode.records.importing.facts import Facts, Series
from homenode.records.importing.opening.bounds import Limits

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds"
SAMPLES = Path(__file__).resolve().parent / "samples"
"""Of formats that are read in Python, which no fuzz target has."""
FAMILIES = {path.name: path for folder in (SEEDS, SAMPLES) for path in folder.iterdir()}
CASES = int(os.environ.get("DAMAGED_FILES", "60"))
LIMITS = Limits(unpacked=64 << 20, free=16 << 20)
LISTINGS = {"vparstatus", "parstatus"}
LONGEST = 600


def faults_of_series(series: Series) -> list[str]:
    table = series.table
    if not table.height:
        return [f"a series of {series.partition} without samples"]
    found = []
    for name in ("seconds", "cores"):
        column = table[name]
        if column.null_count() or not column.is_finite().all() or (column < 0).any():
            found.append(f"{name} {column.to_list()[:5]}")
    if table["time"].null_count() or not table["time"].is_sorted():
        found.append(f"times {table['time'].to_list()[:5]}")
    return found


def faults(facts: Facts) -> list[str]:
    """What nobody could reckon with, or read."""
    found = [fault for series in facts.series for fault in faults_of_series(series)]
    sentences = [one.text for one in facts.notices] + [one.why for one in facts.left]
    found += [
        f"a sentence of {len(text)} characters: {text[:100]!r}"
        for text in sentences
        if not text.strip() or "\n" in text or len(text) > LONGEST
    ]
    for partition in facts.partitions.values():
        for name in ("entitlement", "virtual", "logical", "smt", "weight", "memory_bytes"):
            told = getattr(partition, name)
            if told is not None and not (math.isfinite(told.value) and told.value >= 0):
                found.append(f"{name} {told.value} of {partition.name}")
    return found


def check(path: Path, samples: Sequence[bytes], damages: Sequence[Damage], silent: bool) -> None:
    """Read damaged forms of samples; the first that is badly read is kept and named."""
    for case in range(CASES):
        content = damaged(f"{path.name} {case}", samples, damages)
        path.write_bytes(content)
        try:
            facts = read_paths([path], LIMITS)
        except HomenodeError as error:
            told = str(error).strip()
            if told:
                continue
            raise AssertionError(f"case {case}: an error without a word") from error
        except Exception as error:
            raise AssertionError(f"case {case}: {error!r}\n{bytes(content[:2000])!r}") from error
        found = faults(facts)
        if not (silent or facts.took or facts.left or facts.notices):
            found.append("neither taken nor left")
        assert not found, f"case {case}: {found}\n{bytes(content[:2000])!r}"
        assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_damaged_texts(name: str, tmp_path: Path) -> None:
    seeds = sorted(FAMILIES[name].iterdir())
    samples = [path.read_bytes() for path in seeds]
    path = tmp_path / f"recording{seeds[0].suffix}"
    check(path, samples, TEXT_DAMAGES, silent=name in LISTINGS)


TEXT = b"timestamp,name,cpu\n2024-03-04T10:00:00Z,a,1\n2024-03-04T10:05:00Z,a,2\n"
MEMBERS = {"a.csv": TEXT, "b/c.nmon": (SEEDS / "nmon" / "aix-shared.nmon").read_bytes()}


def zip_of(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def tar_of(mode: str = "w", form: int = tarfile.GNU_FORMAT) -> bytes:
    """Files, a dump of /sys, and links that lead nowhere, to themselves and out."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:
        for name, data in {**MEMBERS, "host/sys/devices/system/cpu/online": b"0\n"}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        archive.addfile(link("host/sys/loop", "loop"))
        archive.addfile(link("host/sys/up", "../../../../etc/passwd"))
        archive.addfile(link("host/sys/hard", "../../etc/passwd", tarfile.LNKTYPE))
    return out.getvalue()


MOMENTS = [dt.datetime(2024, 3, 4, 10, minute) for minute in range(30)]  # noqa: DTZ001


def parquet() -> list[bytes]:
    plain = {"time": MOMENTS, "name": ["a"] * 30, "cores": [1.5] * 30}
    stamps = [1_376_314_846_000 + 300_000 * row for row in range(30)]
    trace = {"id": ["1"] * 30, "timestamp": stamps, "duration": [300_000] * 30}
    trace |= {"cpu_count": [4] * 30, "cpu_usage": [100.0] * 30}
    files = []
    for columns in (plain, trace):
        out = io.BytesIO()
        pl.DataFrame(columns).write_parquet(out)
        files.append(out.getvalue())
    return files


def workbook(rows: int = 30) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.append(["time", "name", "cores"])
    for moment in MOMENTS[:rows]:
        sheet.append([moment, "a", 1.5])
    book.save(out)
    return out.getvalue()


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


CONTAINERS = {
    "zip": [zip_of(MEMBERS)],
    "tar": [tar_of(form=tarfile.PAX_FORMAT), tar_of(), tar_of(form=tarfile.USTAR_FORMAT)],
    "tar.gz": [tar_of("w:gz")],
    "tar.bz2": [tar_of("w:bz2")],
    "tar.xz": [tar_of("w:xz")],
    "csv.gz": [gzip.compress(TEXT)],
    "csv.bz2": [bz2.compress(TEXT)],
    "csv.xz": [lzma.compress(TEXT)],
    "csv.zst": [zstd(TEXT)],
    "xlsx": [workbook()],
    "parquet": parquet(),
    "all.zip": [zip_of({"in.tar": tar_of(), "in.zip": zip_of(MEMBERS), "d.csv.zst": zstd(TEXT)})],
}


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_damaged_containers(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(CONTAINERS[suffix][0])
    assert read_paths([path]).took, "the sound one is read"
    check(path, CONTAINERS[suffix], BINARY_DAMAGES, silent=False)


NAMES = (
    "../../out.csv",
    "/out.csv",
    "a/../../out.csv",
    "..\\out.csv",
    "C:\\out.csv",
    "//host/share/out.csv",
    "./././a.csv",
    "a\nb.csv",
    "a\x1b[2Jb.csv",
    "n" * 5000 + ".csv",
    "/".join("d" * 300) + "/a.csv",
    "\N{RIGHT-TO-LEFT OVERRIDE}vsc.a",
    " ",
    "-rf",
)


@pytest.mark.parametrize("name", NAMES)
def test_no_name_in_an_archive_leads_anywhere(name: str, tmp_path: Path) -> None:
    box = tmp_path / "box"
    box.mkdir()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(TEXT)
        archive.addfile(info, io.BytesIO(TEXT))
    for suffix, data in {"tar": out.getvalue(), "zip": zip_of({name: TEXT})}.items():
        path = box / f"a.{suffix}"
        path.write_bytes(data)
        facts = read_paths([path])
        assert facts.took or facts.left
        shown = [one.file for one in facts.took] + [one.file for one in facts.left]
        assert not any("\n" in one or "\x1b" in one for one in shown)
    assert [one.name for one in tmp_path.iterdir()] == ["box"]
    assert sorted(one.name for one in box.iterdir()) == ["a.tar", "a.zip"]


def test_an_archive_within_itself_comes_to_an_end(tmp_path: Path) -> None:
    """Archives that hold two of the next one each: 2^n files if nobody counts."""
    data = zip_of({"a.csv": TEXT})
    for _ in range(24):
        data = zip_of({"a.zip": data, "b.zip": data})
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    facts = read_paths([path], LIMITS)
    assert not facts.took
    assert 0 < len(facts.left) < 1000


def test_links_of_a_folder_that_go_in_circles(tmp_path: Path) -> None:
    cpu = tmp_path / "host" / "sys" / "devices" / "system" / "cpu"
    (cpu / "cpu0" / "topology").mkdir(parents=True)
    (cpu / "online").write_text("0\n")
    (cpu / "cpu0" / "topology" / "core_id").write_text("0\n")
    (cpu / "cpu0" / "again").symlink_to(cpu)
    (cpu / "a").symlink_to("b")
    (cpu / "b").symlink_to("a")
    (cpu / "possible").symlink_to("/dev/zero")
    facts = read_paths([tmp_path / "host"])
    assert facts.topologies
    assert not faults(facts)


def sheet_with(before: bytes, after: bytes) -> bytes:
    """A workbook whose sheet was changed by another program."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(5))) as book, zipfile.ZipFile(out, "w") as changed:
        for name in book.namelist():
            data = book.read(name)
            if name.endswith("sheet1.xml"):
                assert before in data
                data = data.replace(before, after)
            changed.writestr(name, data)
    return out.getvalue()


LAUGHS = b"<!DOCTYPE x [<!ENTITY a 'ha'>" + b"".join(
    b"<!ENTITY %c '&%c;&%c;&%c;&%c;'>" % (c, c - 1, c - 1, c - 1, c - 1) for c in range(98, 120)
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"<worksheet", LAUGHS + b"]><worksheet"),
        (b"<sheetData>", b"<sheetData>" + b"<row>" * 100_000),
        (b'<row r="6"', b'<row r="30000000"'),
        (b'r="C6"', b'r="XFD6"'),
        (b'r="C6"', b'r="ZZZZ6"'),
    ],
    ids=["entities", "nesting", "far row", "far column", "no column"],
)
def test_workbooks_made_to_harm(before: bytes, after: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(sheet_with(before, after))
    facts = read_paths([path])
    assert facts.took or facts.left
    assert not faults(facts)


def test_xml_expands_no_entities_and_reads_no_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("verysecret")
    entity = f'<!DOCTYPE topology [<!ENTITY x SYSTEM "file://{secret}">]>'
    text = (SEEDS / "hwloc" / "v2.xml").read_text().replace("x86_64", "&x;")
    for kind, path in (("inner", tmp_path / "a.xml"), ("outer", tmp_path / "b.xml")):
        declared = LAUGHS.decode() + "]>" if kind == "inner" else entity
        used = text.replace("&x;", "&w;") if kind == "inner" else text
        head = '<!DOCTYPE topology SYSTEM "hwloc2.dtd">'
        path.write_text(used.replace(head, declared))
        facts = read_paths([path])
        assert facts.topologies
        said = repr(facts)
        assert "verysecret" not in said
        assert "hahaha" not in said


def test_deep_nesting_overflows_no_stack(tmp_path: Path) -> None:
    deep = 50 * sys.getrecursionlimit()
    texts = {
        "a.json": '{"systemUtil":{"utilInfo":{"a":' + '{"a":[' * deep,
        "b.json": '{"lscpu":' + '[{"field":"CPU(s):","data":"1","children":' * deep,
        "c.json": '{"timestamp":{"datetime":"2024-03-04T10:00:00"},"a":' + '{"a":' * deep,
        "d.xml": '<topology version="2.0"><object type="Machine">' + '<object type="Group">' * deep,
        "e.xml": "<domain type='kvm'><name>a</name>" + "<cputune>" * deep,
        "f.json": '{"meta":{},"hyptop":' + "[" * deep,
        "g.json": '{"sysstat": {"hosts": [' + '{"timestamp":' * deep,
        "i.json": '{"data":{"resultType":"matrix","result":[' + '{"metric":{"a":' * deep,
        "h.xml": "<sysstat><host nodename='a'>" + "<statistics>" * deep,
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.write_text(text)
        facts = read_paths([path])
        assert facts.took or facts.left
        assert not faults(facts)
