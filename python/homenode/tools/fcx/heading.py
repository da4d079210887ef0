"""The line above every report, and numbers in its narrow columns."""

from __future__ import annotations

from homenode.tools.guestview import GuestView, clock

OUR_LAYOUT = "(layout of homenode: only the names of the original's fields are known)"


def machine_type(view: GuestView) -> str:
    """Four digits, or dots where they are not known."""
    return view.model.partition("-")[0] or "...."


def heading(view: GuestView, number: str) -> str:
    """Report, machine type, serial number (none is modelled), and the time it is about."""
    span = f"{clock(0)} - {clock(view.spec['duration_ns'])}"
    return f"{number:<10}  CPU {machine_type(view)}  SER .....  Interval {span}    Perf. Monitor"


def narrow(value: float, width: int = 4, decimals: int = 3) -> str:
    """As many digits as a column holds: `.147`, `2.77`, `10.3`, `180`; no zero before the point."""
    for digits in range(decimals, 0, -1):
        text = f"{value:.{digits}f}"
        text = text[1:] if text.startswith("0.") else text
        if len(text) <= width:
            return text.rjust(width)
    return f"{value:.0f}".rjust(width)
