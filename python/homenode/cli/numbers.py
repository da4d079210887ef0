"""Numbers in options of the command line."""

from __future__ import annotations

from homenode.errors import HomenodeError

_MOST_DIGITS = 9


def whole_numbers(text: str, option: str) -> list[int]:
    """The whole numbers of a list with commas; `option` names it in messages."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
            raise HomenodeError(
                f"{option} {text}: {word or 'nothing'} is not a plain whole number",
                next_step=f"write numbers with commas, such as {option} 1,2,4",
            )
    return [int(word) for word in words]
