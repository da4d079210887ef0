"""What two sessions say of themselves beside their runs: what was set, what ended early or failed.

A result may be any that has records (`Measured`); what a session adds is used where it is there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from homenode.hosts.reduce import Measured


def sides_of(result: Measured, names: Sequence[str]) -> dict[str, str]:
    """By system, the words that it was set with; empty where the result does not tell."""
    systems: Mapping[str, Mapping[str, object]] = getattr(result, "systems", {})
    if not all(name in systems for name in names):
        return {}
    return {name: str(systems[name].get("words", "")).strip() for name in names}


def same_session(first: Measured, second: Measured) -> list[str]:
    """A file that is compared with itself, or with a copy, is told nothing by it."""
    begun = getattr(first, "started", "")
    if not begun or begun != getattr(second, "started", "") or first.records != second.records:
        return []
    return ["Both files hold the same session: whatever they say of each other is nothing."]


def notes_of(results: Mapping[str, Measured], cases: Collection[str]) -> list[str]:
    """Sessions that ended early, and repetitions of these cases that failed."""
    found = []
    ended = [name for name, result in results.items() if getattr(result, "interrupted", False)]
    if ended:
        one = len({id(result) for result in results.values()}) == 1
        whose = "The session" if one else f"The session of {' and that of '.join(ended)}"
        found.append(f"{whose} ended early: some cases have fewer runs than were asked for.")
    for name, result in results.items():
        by_case: dict[str, list[str]] = {}
        for failure in _failures(result, name):
            if failure.get("case") in cases:
                by_case.setdefault(str(failure["case"]), []).append(str(failure.get("why", "")))
        for case, whys in by_case.items():
            times = "" if len(whys) == 1 else f" {len(whys)} times"
            found.append(f"{case} failed on {name}{times}: {whys[0]}")
    return found


def why_absent(result: Measured, name: str, case: str) -> str:
    """Why a session has no repetition of a case, in its own words; empty if it does not say."""
    for one in result.left_out:
        if one.get("case") == case:
            return str(one.get("why", ""))
    for one in _failures(result, name):
        if one.get("case") == case:
            return str(one.get("why", ""))
    return ""


def _failures(result: Measured, name: str) -> list[Mapping[str, object]]:
    """Of a system; of a result with one system all, whatever name it goes by here."""
    every: Sequence[Mapping[str, object]] = getattr(result, "failures", ())
    systems: Collection[str] = getattr(result, "systems", ())
    return [one for one in every if len(systems) < 2 or one.get("system") == name]
