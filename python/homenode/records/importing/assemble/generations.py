"""Which processor generation a machine of some type and model has, and how generations follow each
other; for choosing the nearest of the shipped machines.

Types and models as IBM's announcement letters name them. For Power the letter after the size in the
model (E6C) is the generation within the type; Z types have one generation each.
"""

from __future__ import annotations

import re

_POWER_MODELS = (
    # Newest first: types of four digits tell apart what models such as 42A do not.
    (r"-(MRX|HEX)\b|9105-|9786-", 10.0),
    (r"-(MR9|M9S)\b|9008-|9009-|9223-|8335-GTH", 9.0),
    (r"-(MME|MHE|E8E|44E|41A|42A|22A)\b|8284-|8286-|8348-|8335-G[CT]", 8.0),
    (r"-(MMD|MHD|E\dD)\b|8246-L\dD|8247-", 7.5),
    (r"-(MM[BC]|MH[BC]|FHB|E\d[BC]|L\d[CST])\b", 7.0),
    (r"-(MMA|FHA|E4A|E8A|EMA)\b", 6.0),
    (r"911[0357]-(5\d\d|59\d)|9119-59\d|9131-|9133-55A", 5.0),
)
_POWER = re.compile(r"POWER\s*(?P<number>\d+)(?P<plus>\+?)", re.IGNORECASE)
_Z_TYPES = {
    "2094": "z9",
    "2096": "z9",
    "2097": "z10",
    "2098": "z10",
    "2817": "z196",
    "2818": "z196",
    "2827": "zEC12",
    "2828": "zEC12",
    "2964": "z13",
    "2965": "z13",
    "3906": "z14",
    "3907": "z14",
    "8561": "z15",
    "8562": "z15",
    "3931": "z16",
    "3932": "z16",
}
_Z_ORDER = {
    name: float(place)
    for place, name in enumerate(("z9", "z10", "z196", "zEC12", "z13", "z14", "z15", "z16"))
}
Generation = tuple[str, float]
"""Family, and a number by which its generations follow each other."""


def generation_of(*texts: str | None) -> Generation | None:
    """The first generation that one of the texts names: a processor as it is printed (POWER7), or a
    machine's type and model (8205-E6C, 2817 M49).
    """
    return next((found for text in texts if text and (found := _of(text)) is not None), None)


def generation_name(generation: Generation) -> str:
    """As people say it: POWER7+."""
    family, number = generation
    if family == "z":
        return next(name for name, order in _Z_ORDER.items() if order == number)
    plus = "+" if number % 1 else ""
    return f"{'Power' if number >= 10 else 'POWER'}{int(number)}{plus}"


def threads_started_with(generation: Generation | None, os: str, threads: int) -> int:
    """Threads of a core that a partition of PowerVM uses if nobody sets them: all that the core has
    (`threads`, of the machine that stands for it), which were two up to POWER6; AIX starts with
    four of POWER8's eight.
    """
    if generation is None or generation[0] != "power":
        return threads
    if generation[1] < 7:
        return min(threads, 2)
    return min(threads, 4) if int(generation[1]) == 8 and os == "aix" else threads


def _of(text: str) -> Generation | None:
    power = _POWER.search(text)
    if power is not None:
        return ("power", int(power["number"]) + (0.5 if power["plus"] else 0.0))
    for name, order in _Z_ORDER.items():
        if text.strip().lower() == name.lower():
            return ("z", order)
    kind = re.match(r"\s*(IBM\s*,?\s*)?(\d{4})\b", text)
    if kind is not None and kind[2] in _Z_TYPES:
        return ("z", _Z_ORDER[_Z_TYPES[kind[2]]])
    model = text.upper().replace(" ", "-")
    return next(
        (("power", number) for form, number in _POWER_MODELS if re.search(form, model)), None
    )
