"""Names of a package that are imported when they are first used, so that a command loads what it
needs and nothing else.
"""

TYPE_CHECKING = False
# typing would be a third of what `homenode --version` loads; type checkers know the name.
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def later(
    package: str, places: "Mapping[str, str]"
) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """`__getattr__` and `__dir__` of a package whose names stand elsewhere.

    `places` gives for each name the module below the package, or with its whole name one that lies
    elsewhere: `module`, or `module:name` where it is called otherwise there. A name that is none
    raises `AttributeError`, as ever.
    """

    def found(name: str) -> "Any":
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import importlib
        import sys

        module, _, there = places[name].partition(":")
        whole = module if module.startswith("homenode.") else f"{package}.{module}"
        value = getattr(importlib.import_module(whole), there or name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        import sys

        here = vars(sys.modules[package])
        # Imports and private names are no part of what the package offers.
        own = [name for name in here if name.startswith("__")]
        return sorted({*own, *here.get("__all__", ()), *places})

    return found, names
