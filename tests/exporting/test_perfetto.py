"""The trace of dispatches: read back by Perfetto's own protocol buffers, and by the real
`trace_processor` where it is installed.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from homenode import Run
from homenode.records import exporting
from homenode.records.exporting import ExportError, ExportOptions
from homenode.records.exporting.dispatches import DISTANCES, KINDS, REASONS
from homenode.records.exporting.perfetto import Tracks, _events, _stamped, _varint

PROGRAMS = ("trace_processor_shell", "trace_processor")


class Slice(NamedTuple):
    """One slice of a track."""

    start: int
    end: int
    name: str
    category: str
    told: dict[str, str]


@pytest.fixture(scope="module")
def file(kept: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = exporting.export(kept, "perfetto", tmp_path_factory.mktemp("trace") / "run.trace")
    return path


@pytest.fixture(scope="module")
def tracks(file: Path) -> dict[str, list[Slice]]:
    return read(file)


def read(file: Path) -> dict[str, list[Slice]]:
    """Slices by the name of their track, as a reader of the format puts them together."""
    trace = Trace.FromString(file.read_bytes())
    names = {p.track_descriptor.uuid: p.track_descriptor.name for p in trace.packet}
    words = next(p.interned_data for p in trace.packet if p.HasField("interned_data"))
    events = {w.iid: w.name for w in words.event_names}
    categories = {w.iid: w.name for w in words.event_categories}
    keys = {w.iid: w.name for w in words.debug_annotation_names}
    values = {w.iid: w.str.decode() for w in words.debug_annotation_string_values}
    found: dict[str, list[Slice]] = defaultdict(list)
    opened: dict[int, tuple[int, TrackEvent]] = {}
    for packet in sorted(
        (p for p in trace.packet if p.HasField("track_event")), key=lambda p: p.timestamp
    ):
        event = packet.track_event
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in opened, "slices of a track do not overlap"
            opened[event.track_uuid] = (packet.timestamp, event)
            continue
        start, begin = opened.pop(event.track_uuid)
        told = {keys[n.name_iid]: values[n.string_value_iid] for n in begin.debug_annotations}
        name, category = events[begin.name_iid], categories[begin.category_iids[0]]
        found[names[event.track_uuid]].append(Slice(start, packet.timestamp, name, category, told))
    assert not opened
    return found


def recorded(kept: Run) -> list[dict[str, int | str]]:
    rows = kept.dispatches().filter(pl.col("replication") == 0)
    return rows.to_dicts()


def test_every_dispatch_stands_on_its_virtual_processor(
    tracks: dict[str, list[Slice]], kept: Run
) -> None:
    expected = sorted(
        (
            f"{row['partition']} vp {row['vp']}",
            row["start_ns"],
            row["end_ns"],
            f"core {row['core']}",
            REASONS[row["reason"]],
            KINDS[row["kind"]],
            DISTANCES[row["distance"]],
        )
        for row in recorded(kept)
    )
    found = sorted(
        (
            track,
            one.start,
            one.end,
            one.name,
            one.told["ended"],
            one.told["capacity"],
            one.told["distance"],
        )
        for track, slices in tracks.items()
        if " vp " in track
        for one in slices
    )
    assert found == expected
    assert len(found) > 1000


def test_every_dispatch_stands_on_its_core(tracks: dict[str, list[Slice]], kept: Run) -> None:
    expected = sorted(
        (f"core {r['core']}", r["start_ns"], r["end_ns"], f"{r['partition']} vp {r['vp']}")
        for r in recorded(kept)
    )
    found = sorted(
        (track.split(" (")[0], one.start, one.end, one.name)
        for track, slices in tracks.items()
        if track.startswith("core ")
        for one in slices
    )
    assert found == expected
    assert all(
        one.category == one.name.split()[0] for t in tracks for one in tracks[t] if "vp" not in t
    )


def test_tracks_are_named_and_stand_in_groups(file: Path, kept: Run) -> None:
    trace = Trace.FromString(file.read_bytes())
    there = [p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")]
    by_uuid = {one.uuid: one for one in there}
    assert len(by_uuid) == len(there)
    parents = {
        one.name: by_uuid[one.parent_uuid].name for one in there if one.HasField("parent_uuid")
    }
    assert parents["core 0 (drawer 0, chip 0)"] == "cores"
    assert parents["core 15 (drawer 0, chip 1)"] == "cores"
    assert parents["shop vp 3"] == "partition shop"
    assert set(parents.values()) == {"cores", *(f"partition {p}" for p in kept.partitions)}


def test_one_partition_alone(kept: Run, tmp_path: Path) -> None:
    (path,) = exporting.export(kept, "perfetto", tmp_path / "t", ExportOptions(partition="night"))
    found = read(path)
    assert {one.category for slices in found.values() for one in slices} == {"night"}


def test_a_run_without_dispatches_says_how_to_get_them(kept_hp: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="record_dispatches = true"):
        exporting.export(kept_hp, "perfetto", tmp_path / "t")


def test_the_trace_is_written_in_pieces(kept: Run) -> None:
    pieces = [len(piece) for piece in _events(kept, ExportOptions(), Tracks(kept))]
    assert len(pieces) > 3
    assert max(pieces) < 250_000


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**32, 2**63 - 1])
def test_packets_are_those_of_the_format(value: int) -> None:
    packet = Trace.FromString(_stamped(_varint(value), b"")).packet[0]
    assert packet.HasField("timestamp")
    assert packet.timestamp == value


def test_the_real_trace_processor_opens_it(file: Path, kept: Run, tmp_path: Path) -> None:
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(
            f"no {' or '.join(PROGRAMS)} on the path: no package registry carries it, it has to be "
            "built or fetched from its makers by hand"
        )
    query = tmp_path / "query.sql"
    query.write_text(
        "select t.name as track, count(*) as slices, sum(s.dur) as ns from slice s "
        "join track t on s.track_id = t.id where t.name like 'shop vp %' group by 1 order by 1;\n"
    )
    done = subprocess.run(
        [program, "-q", query, file], capture_output=True, text=True, check=True, timeout=120
    )
    rows = {row["track"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    shop = [row for row in recorded(kept) if row["partition"] == "shop"]
    for vp in range(4):
        own = [row for row in shop if row["vp"] == vp]
        assert int(rows[f"shop vp {vp}"]["slices"]) == len(own)
        assert int(rows[f"shop vp {vp}"]["ns"]) == sum(r["end_ns"] - r["start_ns"] for r in own)
