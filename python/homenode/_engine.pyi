# The compiled engine: one frozen scenario in, columns out.

from collections.abc import Callable
from typing import Any

ENGINE_VERSION: str
PARTITION_COLUMNS: list[str]
CPU_COLUMNS: list[str]
POOL_COLUMNS: list[str]
DISPATCH_COLUMNS: list[str]
VIRTUAL_MACHINE_COLUMNS: list[str]
SWITCH_COLUMNS: list[str]
VOLUME_COLUMNS: list[str]
BOOKS: list[str]
LINES: list[str]
GAUGES: list[str]

# The engine refuses the spec; the text is one sentence with the facts.
class SpecError(ValueError): ...

# The observer asked to stop.
class Stopped(Exception): ...  # noqa: N818

# More work piled up than memory should hold: the load is far beyond what there is.
class Runaway(RuntimeError): ...  # noqa: N818

# Refuse a spec that cannot be simulated.
def check(spec_json: str) -> None: ...

# Run one replication without holding Python's lock; return the summary as JSON.
#
# After each recorded interval, and now and then during long ones, `observe` gets a batch: `now_ns`,
# `end_ns`, `events` and `tables`, columns of little-endian int64 by table and name. It returns
# False to stop the run.
def simulate(
    spec_json: str, replication: int, observe: Callable[[dict[str, Any]], bool]
) -> str: ...

# Split an entitlement in cores over logical cores in vertical polarization: how many are
# vertical-high, -medium and -low, and what each -medium is entitled to in cores.
def polarize(entitlement: float, cores: int) -> tuple[int, int, int, float]: ...

# Price a layout without simulating it; return, as JSON, what an instruction of each partition costs
# while given cores are busy (`busy_json`: for each partition a list of cores by chip).
def price(spec_json: str, busy_json: str) -> str: ...

# Answer what walking through a buffer costs on one core; JSON in, JSON out (homenode.compare.walk).
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
