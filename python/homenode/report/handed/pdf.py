"""A report as PDF, printed by a Chromium that is installed: it lays pages out as browsers do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from homenode.errors import HomenodeError, StoreError
from homenode.staging import write_whole

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_MOST_S = 120.0


def browser() -> str | None:
    """The Chromium of this machine, if it has one."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def write_pdf(html: Path, path: Path) -> Path:
    """Print a page that lies on the disk. Raises `HomenodeError` where no browser is there."""
    program = browser()
    if program is None:
        raise HomenodeError(
            "a PDF is printed by Chromium, and none is installed",
            there=f"looked for: {', '.join(BROWSERS)}",
            next_step=f"install one, or open {html} and print it",
        )
    with tempfile.TemporaryDirectory() as own:
        aside = Path(own) / "report.pdf"
        words = [
            program, "--headless", "--disable-gpu", "--no-pdf-header-footer",
            f"--user-data-dir={own}/profile", f"--print-to-pdf={aside}", html.resolve().as_uri(),
        ]  # fmt: skip
        if os.geteuid() == 0:
            words.insert(1, "--no-sandbox")  # Chromium refuses its sandbox to root
        try:
            subprocess.run(words, check=True, capture_output=True, timeout=_MOST_S)
            write_whole(path, aside.read_bytes())
        except (subprocess.SubprocessError, FileNotFoundError) as error:
            raise HomenodeError(
                f"{program} did not print the report", next_step=f"open {html} and print it"
            ) from error
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    return path
