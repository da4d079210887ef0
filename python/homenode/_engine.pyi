# The compiled engine: one frozen scenario in, columns out.

from collections.abc import Callable
from typing import Any

ENGINE_VERSION: str
PARTITION_COLUMNS: list[str]
CPU_COLUMNS: list[str]
POOL_COLUMNS: list[str]
FABRIC_COLUMNS: list[str]
INTERRUPT_COLUMNS: list[str]
HOME_COLUMNS: list[str]
FABRIC_PORTS: list[str]
DISPATCH_COLUMNS: list[str]
VIRTUAL_MACHINE_COLUMNS: list[str]
SWITCH_COLUMNS: list[str]
VOLUME_COLUMNS: list[str]
WORKLOAD_COLUMNS: list[str]
BOOKS: list[str]
LINES: list[str]
GAUGES: list[str]
# Schedulers of hosts: names, titles and settings as JSON (homenode.model.catalog.policies).
HOST_POLICIES: str

# The engine refuses the spec; the text is one sentence with the facts. `at` is a JSON pointer to
# what it refuses, `what` the text without whose it is; of a number out of its range, `field` is its
# name and `range` what it must be, both empty otherwise. Text that is no spec has none of them.
class SpecError(ValueError):
    at: str
    what: str
    field: str
    range: str

# The observer asked to stop.
class Stopped(Exception): ...  # noqa: N818

# More work piled up than memory should hold: the load is far beyond what there is.
class Runaway(RuntimeError): ...  # noqa: N818

# Refuse a spec that cannot be simulated.
def check(spec_json: str) -> None: ...

# Run one replication without holding Python's lock; return the summary as JSON.
#
# After each recorded interval, and now and then during long ones, `observe` gets a batch: `now_ns`,
# `end_ns`, `events` and `tables`, columns of little-endian int64 by table and name. The rows of an
# interval come when no later one can change them any more, the last at the end of the run. It
# returns False to stop the run.
def simulate(
    spec_json: str,
    replication: int,
    observe: Callable[[dict[str, Any]], bool],
    latest: bool = False,
) -> str: ...

# Split an entitlement in cores over logical cores in vertical polarization: how many are
# vertical-high, -medium and -low, and what each -medium is entitled to in cores.
def polarize(entitlement: float, cores: int) -> tuple[int, int, int, float]: ...

# Number of the run queue of each processor of a Xen host; empty for other machines.
def run_queues(spec_json: str) -> list[int]: ...

# Price a layout without simulating it; return, as JSON, what an instruction of each partition costs
# while given cores are busy (`busy_json`: for each partition a list of cores by chip).
def price(spec_json: str, busy_json: str) -> str: ...

# Solve a layout without simulating it; return, as JSON, what each partition does in the steady
# state (homenode.simulate.answers.SolvedAnswer). SpecError also where only a simulation can tell.
def solve(spec_json: str) -> str: ...

# Layouts of one machine solved one after the other: a partition's form 0 is the spec's, `add` gives
# it another (JSON) and returns its number, `solve` takes rows of numbers, one a partition, and
# returns columns by name, layout after layout and partition after partition. After `near` they are
# solved from that layout on, which is quicker the fewer partitions differ from it. The 95th
# percentile of responses is not a number unless asked for.
class Layouts:
    def __init__(self, spec_json: str) -> None: ...
    def add(self, partition: int, partition_json: str) -> int: ...
    def near(self, chosen: list[int]) -> None: ...
    def solve(self, choices: list[list[int]], p95: bool = False) -> dict[str, list[float]]: ...

# Place partitions on machines: look for the assignment of least cost. Columns are integers by name
# (buffers of int64, or lists), several values a row one after the other, as in
# homenode_engine::placement::Problem: transient, load_weight; neighbourhood, location, capacity,
# safety, way; spread, needs (rows of a service and one it depends on); service, requirement,
# move_cost, start; balances (rows of two resources, target, weight); weights (of partitions moved,
# services, ways). `watch(moves, cost)` is called some fifty times a second and answers which share
# of the time is gone, 1 to stop. With `moves` the answer depends on them, `seed` and `searches`
# alone; without, on time. Returns `at` (by partition its machine), `cost` and `moves`. SpecError
# says what is unsound in the problem, or which rule its start breaks where.
def place(
    columns: dict[str, Any],
    watch: Callable[[int, int], float],
    *,
    seed: int,
    searches: int,
    threads: int,
    moves: int | None = None,
) -> dict[str, Any]: ...

# Answer what walking through a buffer costs on one core; JSON in, JSON out
# (homenode.evidence.compare.walk).
def walk(question_json: str) -> str: ...

# A tool's output that is not what it should be; the text names the line.
class CaptureError(ValueError): ...

# Read what AIX's lparstat printed; return its tables as JSON.
def parse_lparstat(text: str) -> str: ...

# Read what AIX's mpstat printed; return its tables as JSON.
def parse_mpstat(text: str) -> str: ...

# Read what HP-UX's vparstatus or parstatus printed; return as JSON what it says, the lines of the
# facts (`places`) and what was left out or understood otherwise (`remarks`).
def parse_vparstatus(text: str) -> str: ...
def parse_parstatus(text: str) -> str: ...

# Write a listing (JSON) as the tool would; refuses with SpecError what is none.
def format_vparstatus(listing_json: str) -> str: ...
def format_parstatus(listing_json: str) -> str: ...

# Read what hyptop printed in batch mode; return it as JSON (homenode_captures::hyptop).
def read_hyptop(text: str) -> str: ...
def read_fcx(text: str) -> str: ...

# Read a file of z/VM's MONWRITE; return as JSON what its records tell
# (homenode_captures::monwrite).
def read_monwrite(data: bytes) -> str: ...

# Read delimited text with a row a sample, piece by piece. Columns count from 0. `feed` and `finish`
# return columns as bytes of little-endian numbers: `time_us` (int64), `name` (uint32, place in
# `names`), `line` (uint64), `numbers` (a list, float64); `finish` besides `names`, `zoned` (rows
# whose moment tells its time zone), `dropped` and `remarks`, pairs of line and text.
class SampleReader:
    def __init__(
        self,
        *,
        delimiter: int,
        columns: int,
        heading: int,
        numbers: list[int],
        needed: int,
        time: int | None,
        name: int | None,
        comma: bool,
    ) -> None: ...
    def feed(self, piece: bytes) -> dict[str, Any]: ...
    def finish(self) -> dict[str, Any]: ...

# The same for metrics whose names begin with one of `wanted`: `time_us` (int64, its least value if
# none is told), `metric` and `labels` (uint32, places in `names` and `label_sets`), `value`
# (float64), `line` (uint64); `finish` besides `passed`, how many are not wanted.
class MetricReader:
    def __init__(self, wanted: list[str]) -> None: ...
    def feed(self, piece: bytes) -> dict[str, Any]: ...
    def finish(self) -> dict[str, Any]: ...

# Say which text of a tool this is the beginning of: lparstat, mpstat, vmstat, sar, lssrad, lparcfg,
# hmc, pcm; none if it is another.
def recognise_text(head: bytes) -> str | None: ...

# Read reports of lparstat, mpstat, vmstat, sar, lssrad and schedo, in any order, damaged or not;
# return as JSON what was found, how many lines were dropped and remarks about them.
def read_reports(text: bytes) -> str: ...

# Read copies of /proc/ppc64/lparcfg; return JSON as `read_reports` does.
def read_lparcfg(text: bytes) -> str: ...

# Read rows of an HMC's lssyscfg, lshwres, lslparutil, lsmemopt; return JSON as `read_reports` does.
def read_hmc_rows(text: bytes) -> str: ...

# Read processed metrics of an HMC; return JSON as `read_reports` does.
def read_hmc_metrics(text: bytes) -> str: ...

# Reads reports as `read_reports` does, in pieces that are cut anywhere.
class ReportReader:
    def feed(self, piece: bytes, /) -> None: ...
    # The JSON, in which tables have no rows, and by table its lines, times and values as
    # little-endian doubles, column by column.
    def finish(self) -> tuple[str, list[list[bytes]]]: ...

# Read hwloc's XML, lscpu's output, or virsh capabilities; return as JSON the host with its tree
# (`found`), how many lines were `dropped`, and `remarks`. `read_sysfs` takes files by their paths.
def read_hwloc(text: str) -> str: ...
def read_lscpu(text: str) -> str: ...
def read_capabilities(text: str) -> str: ...
def read_sysfs(files: dict[str, bytes]) -> str: ...

# The same for libvirt's XML of domains, and for /proc/sysinfo of IBM Z.
def read_domains(text: str) -> str: ...
def read_sysinfo(text: str) -> str: ...

# Any XML as trees: `name`, `attributes` (pairs), `children`, `text`, `line` of each element. No
# document type is read, no entity expanded but the five predefined ones.
def read_xml(text: str) -> str: ...

# Write a tree (JSON) as lstopo prints it, or as hwloc's XML; refuses with SpecError what is none.
def topology_console(topology_json: str) -> str: ...
def topology_xml(topology_json: str) -> str: ...

# Reads recordings of `nmon` or `njmon` in chunks that are cut anywhere; `wanted` names the tables
# to hand over, all if it is none. `feed` and `finish` return batches, dictionaries of `recording`
# (its number in the file), `table`, `heading` (its number in the table), `rows`, `snapshots`,
# `lines` and `processors` (packed int64; the last one none where there is one row a snapshot),
# `columns` (name and packed float64, NaN where nothing was written), `words` (name, packed UTF-8,
# and where each word begins, int64, with the end of the last). `finish` raises CaptureError if
# nothing was sound, and returns besides as JSON what else the file says, how many lines were
# dropped, and remarks.
class RecordingReader:
    def __init__(self, form: str, wanted: set[str] | None = None, /) -> None: ...
    def feed(self, chunk: bytes) -> list[dict[str, Any]]: ...
    def finish(self) -> tuple[list[dict[str, Any]], str]: ...

# The kernels' names: measured loops and load generators.
KERNELS: list[str]

# No such kernel, or parameters that it does not take.
class KernelError(ValueError): ...

# Run a kernel with its parameters (JSON) and return what it found (JSON); raises OSError where the
# host refuses. Blocks, and forks: for a process that does nothing else.
def kernel(name: str, parameters_json: str) -> str: ...
