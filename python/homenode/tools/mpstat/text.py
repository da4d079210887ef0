"""Layout of mpstat's tables.

Order, headings and least widths of the default, `-d` and `-a` tables are those of recorded
output. Of `-s` the order of the lines is on record, the blanks between the columns are not.
"""

from __future__ import annotations

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.mpstat.figures import Processor
from homenode.tools.text_columns import Column, Value, columns, heading, row

_CPU = Column("cpu", 3)
_REDISPATCHES = columns("S0rd S1rd S2rd S3rd S4rd S5rd", 5, 1)
_MIGRATIONS = columns("bound rq push S3pull S3grd", 6)
_HOME = columns("S3hrd S4hrd S5hrd", 5, 1)
_SPEED = Column("%nsp", 5)
_SWITCHES = columns("ilcs vlcs", 6)

_CELL = 9
_LINE = 80


def columns_of(configuration: SystemConfiguration, mode: str) -> list[Column]:
    """Columns of the table for `mode` (nothing, `d` or `a`)."""
    if mode == "":
        return _default(configuration)
    shown = [_CPU]
    if mode == "d":
        shown += [*columns("cs ics", 6), *_MIGRATIONS, *_REDISPATCHES, *_SWITCHES]
    else:
        shown += columns("min maj mpcs mpcr dev soft dec ph cs ics", 6)
        shown += [*_MIGRATIONS, *_REDISPATCHES, Column("sysc", 6)]
        shown += [*columns("us sy wa id", 5, 1), Column("pc", 5, 2)]
        shown += [Column("%ec", 5, 1)] if configuration.is_shared else []
        shown += _SWITCHES
        shown += [] if configuration.is_shared else columns("istol bstol", 6, 1)
    if configuration.at_least(6, 1):
        shown += _HOME
    if configuration.shows_speed:
        shown.append(_SPEED)
    return shown


def _default(configuration: SystemConfiguration) -> list[Column]:
    shown = [_CPU, *columns("min maj mpc int cs ics rq mig", 4), Column("lpa", 3)]
    shown += [Column("sysc", 4), *columns("us sy wa id", 2), Column("pc", 4, 2)]
    if configuration.is_shared:
        shown += [Column("%ec", 4, 1), Column("lcs", 4)]
    return shown


def configuration_line(configuration: SystemConfiguration) -> str:
    """The first line; mpstat shows the entitlement with one digit."""
    c = configuration
    ent = f"ent={c.ent:.1f} " if c.is_shared else ""
    return f"System configuration: lcpu={c.lcpu} {ent}mode={c.mode}{c.line_end}"


def table(shown: list[Column], rows: list[dict[str, Value]]) -> list[str]:
    """Headings and rows; only the default and the `-a` table show the unused entitlement."""
    return [heading(shown), *(row(shown, values) for values in rows)]


def smt_lines(configuration: SystemConfiguration, processors: list[Processor]) -> list[str]:
    """`-s`: as many processors side by side as fit a line, each over its logical processors."""
    each = max(1, _LINE // (_CELL * configuration.smt))
    lines: list[str] = []
    for first in range(0, len(processors), each):
        block = processors[first : first + each]
        widths = [_CELL * len(processor.cpus) for processor in block]
        cpus = [cpu for processor in block for cpu in processor.cpus]
        lines += [""] if first else []
        lines += [
            _centred([f"Proc{_number(configuration, p)}" for p in block], widths),
            _centred([f"{p.consumed_pct:.2f}%" for p in block], widths),
            "".join(f"cpu{number}".rjust(_CELL) for number, _ in cpus),
            "".join(f"{share:.2f}%".rjust(_CELL) for _, share in cpus),
        ]
    return lines


def _number(configuration: SystemConfiguration, processor: Processor) -> int:
    """AIX 5.3 counts virtual processors; later levels name them by their first logical
    processor.
    """
    return processor.cpus[0][0] if configuration.at_least(6, 1) else processor.vp


def _centred(texts: list[str], widths: list[int]) -> str:
    """Over the middle of the cells beneath; at least one blank apart."""
    cells = []
    for text, width in zip(texts, widths, strict=True):
        space = max(1, width - len(text))
        left = max(1, space // 2)
        cells.append(f"{' ' * left}{text}{' ' * (space - left)}")
    return "".join(cells).rstrip()
