"""The dispatches of a run as a Perfetto trace: a track a core, on which stand the virtual
processors it ran, and a track a virtual processor, on which stand the cores it ran on.

A slice tells whether it was on entitled or on excess capacity, how far from home, and why it ended.
Times are from the beginning of the measured time. The trace is written while the dispatches are
read, in pieces of bounded size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.records.exporting.dispatches import DISTANCES, KINDS, REASONS, groups, were_recorded
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind
from homenode.simulate.kept.totals import shape_during

if TYPE_CHECKING:
    from homenode.simulate.run import Run

Dispatch = tuple[int, int, int, int, int, int]
"""Partition, virtual processor, core, distance, kind, reason; as the engine numbers them."""
Packets = tuple[bytes, bytes, bytes, bytes]
"""Beginning and end on the core's track, beginning and end on the virtual processor's."""

_SEQUENCE = 1
_PACKET_KEY, _TIMESTAMP_KEY = 0x0A, 0x40
"""Keys of `Trace.packet` (field 1, bytes) and `TracePacket.timestamp` (field 8, varint)."""
_CLEARED, _NEEDS_STATE = 1, 2
"""Flags of a sequence: it begins here; the packet refers to words by number."""
_TOLD = {"ended": REASONS, "capacity": KINDS, "distance": DISTANCES}
"""What is said of a slice."""
_MANY = 4_096


@dataclass(frozen=True)
class Perfetto:
    """All dispatches as one trace that Perfetto shows."""

    name: str = "perfetto"
    title: str = "Perfetto trace of all dispatches: a track a core, a track a virtual processor"
    kind: Kind = "file"
    suffix: str = ".perfetto-trace"
    takes: Collection[str] = ("partition", "replication")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        if not were_recorded(run):
            raise ExportError(
                f"run {run.id} did not record dispatches",
                next_step="put record_dispatches = true into the [run] section and run it again",
            )
        tracks = Tracks(run)
        with target.open("wb") as file:
            file.write(tracks.head(options.partitions(run)))
            for piece in _events(run, options, tracks):
                file.write(piece)
        return [target]


def _events(run: Run, options: ExportOptions, tracks: Tracks) -> Iterator[bytes]:
    """A beginning and an end on two tracks for each dispatch."""
    columns = ("start_ns", "end_ns", "partition", "vp", "core", "distance", "kind", "reason")
    waiting: list[bytes] = []
    for rows in groups(run, options):
        for start_ns, end_ns, *dispatch in rows.select(columns).iter_rows():
            begin, end, vp_begin, vp_end = tracks.packets(tuple(dispatch))
            start, stop = _varint(start_ns), _varint(end_ns)
            waiting += (_stamped(start, begin), _stamped(stop, end))
            waiting += (_stamped(start, vp_begin), _stamped(stop, vp_end))
            if len(waiting) >= _MANY:
                yield b"".join(waiting)
                waiting.clear()
    yield b"".join(waiting)


def _stamped(stamp: bytes, rest: bytes) -> bytes:
    """A packet of a trace: its time before what packets of that kind have in common."""
    length = _varint(1 + len(stamp) + len(rest))
    return b"%c%b%c%b%b" % (_PACKET_KEY, length, _TIMESTAMP_KEY, stamp, rest)


def _varint(value: int) -> bytes:
    """A non-negative integer in the variable length encoding of protocol buffers."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


@dataclass
class Tracks:
    """Tracks and their numbers; remembers the packets of every kind of dispatch."""

    run: Run
    known: dict[Dispatch, Packets] = field(default_factory=dict)

    def __post_init__(self) -> None:
        machine = self.run.spec["machine"]
        self.cores: int = machine["nodes"] * machine["chips_per_node"] * machine["cores_per_chip"]

    def core(self, core: int) -> int:
        """Number of the track of a core."""
        return 2 + core

    def group(self, partition: int) -> int:
        """Number of the track that holds those of a partition."""
        return 2 + self.cores + partition

    def vp(self, partition: int, vp: int) -> int:
        """Number of the track of a virtual processor."""
        before = sum(self._processors(index) for index in range(partition))
        return self.group(len(self.run.partitions)) + before + vp

    def _processors(self, partition: int) -> int:
        return shape_during(self.run.spec, partition).processors

    def head(self, partitions: Collection[str]) -> bytes:
        """Names and order of all tracks, and the words that slices refer to by number."""
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

        trace = Trace()
        self._describe(trace, 1, "cores", None, 0)
        trace.packet[0].sequence_flags = _CLEARED
        for core in range(self.run.spec["machine"]["active_cores"]):
            self._describe(trace, self.core(core), self._label(core), 1, core)
        for index, name in enumerate(self.run.partitions):
            if name in partitions:
                self._describe(trace, self.group(index), f"partition {name}", None, 1 + index)
                for vp in range(self._processors(index)):
                    title = f"{name} vp {vp}"
                    self._describe(trace, self.vp(index, vp), title, self.group(index), vp)
        self._add_words(trace.packet.add())
        content: bytes = trace.SerializeToString()
        return content

    def _add_words(self, packet: Any) -> None:
        """Words by number; that of a track is the number of its own name on other tracks."""
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.sequence_flags = _NEEDS_STATE
        words = packet.interned_data
        for core in range(self.cores):
            words.event_names.add(iid=self.core(core), name=f"core {core}")
        for index, name in enumerate(self.run.partitions):
            words.event_categories.add(iid=1 + index, name=name)
            for vp in range(self._processors(index)):
                words.event_names.add(iid=self.vp(index, vp), name=f"{name} vp {vp}")
        number = 1
        for place, (name, values) in enumerate(_TOLD.items(), start=1):
            words.debug_annotation_names.add(iid=place, name=name)
            for value in values:
                words.debug_annotation_string_values.add(iid=number, str=value.encode())
                number += 1

    def _label(self, core: int) -> str:
        """`core 9 (drawer 0, chip 1)`."""
        machine = self.run.spec["machine"]
        chip = core // machine["cores_per_chip"]
        node = chip // machine["chips_per_node"]
        return f"core {core} ({self.run.node_name} {node}, chip {chip})"

    def _describe(self, trace: Any, uuid: int, name: str, parent: int | None, rank: int) -> None:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor

        packet = trace.packet.add()
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.track_descriptor.uuid = uuid
        packet.track_descriptor.name = name
        packet.track_descriptor.sibling_order_rank = rank
        if parent is None:
            packet.track_descriptor.child_ordering = TrackDescriptor.EXPLICIT
        else:
            packet.track_descriptor.parent_uuid = parent

    def packets(self, dispatch: Dispatch) -> Packets:
        """All of a dispatch's four packets but their time."""
        found = self.known.get(dispatch)
        if found is None:
            partition, vp, core, distance, kind, reason = dispatch
            on_core, on_vp = self.core(core), self.vp(partition, vp)
            told = (reason, kind, distance)
            found = (
                _begin(on_core, 1 + partition, on_vp, told),
                _end(on_core),
                _begin(on_vp, 1 + partition, on_core, told),
                _end(on_vp),
            )
            self.known[dispatch] = found
        return found


def _begin(track: int, category: int, name: int, told: Sequence[int]) -> bytes:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent

    packet = TracePacket()
    packet.trusted_packet_sequence_id = _SEQUENCE
    packet.sequence_flags = _NEEDS_STATE
    event = packet.track_event
    event.type = TrackEvent.TYPE_SLICE_BEGIN
    event.track_uuid = track
    event.category_iids.append(category)
    event.name_iid = name
    first = 1
    for place, (value, values) in enumerate(zip(told, _TOLD.values(), strict=True), start=1):
        event.debug_annotations.add(name_iid=place, string_value_iid=first + value)
        first += len(values)
    content: bytes = packet.SerializeToString()
    return content


def _end(track: int) -> bytes:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent

    packet = TracePacket()
    packet.trusted_packet_sequence_id = _SEQUENCE
    packet.track_event.type = TrackEvent.TYPE_SLICE_END
    packet.track_event.track_uuid = track
    content: bytes = packet.SerializeToString()
    return content


EXPORTER: Exporter = Perfetto()
