"""What the reduction needs of a result, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from homenode.hosts.record import RunRecord


class Measured(Protocol):
    """A result file that was read, or a simulated run in its form."""

    @property
    def records(self) -> Sequence[RunRecord]:
        """All repetitions, rejected ones too."""

    @property
    def suite(self) -> Mapping[str, object]:
        """`name`, `title`, `sha256`."""

    @property
    def settings(self) -> Mapping[str, object]:
        """How it was measured."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Of the tools, by adapter."""

    @property
    def environment(self) -> Mapping[str, object]:
        """What was known of the host: hardware, kernel, settings."""

    @property
    def cases(self) -> Mapping[str, Mapping[str, object]]:
        """By case: `title`, `metric`, `unit`, `better`, `seconds`, `parameters`."""

    @property
    def left_out(self) -> Sequence[Mapping[str, object]]:
        """Cases that were not run: of each `case` and `why`."""


@dataclass(frozen=True)
class Plain:
    """A result that is no file."""

    records: Sequence[RunRecord]
    suite: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, object] = field(default_factory=dict)
    cases: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    left_out: Sequence[Mapping[str, object]] = ()
