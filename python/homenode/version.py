"""Which version of homenode this is."""

import functools
import os
import sys


@functools.cache
def program_version() -> str:
    """Version of the installed package, as its metadata tell it; `0+unknown` where it has none."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 - pathlib costs more than the answer
        except OSError:
            continue
        for name in names:
            if name.startswith("homenode-") and name.endswith(".dist-info"):
                return name.removeprefix("homenode-").removesuffix(".dist-info")
    # Installed in another form. The library that reads all forms costs as much as a command.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("homenode")
    except PackageNotFoundError:
        return "0+unknown"
