"""What profile a workload has, as a scenario file says it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.profile_model import (
    NOT_TOLD,
    PROFILE_NUMBERS,
    Bytes,
    Cpi,
    CurveBytes,
    Exponent,
    Flush,
    Instructions,
    LockKind,
    Misses,
    Numbers,
    Run,
    Share,
    Stream,
    Switch,
)
from homenode.model.document import OrText, Table


class ProfileChoice(Table):
    """A profile: a shipped one or a file as `base`, with any of its numbers replaced, or all of
    them given.
    """

    base: str | None = Field(
        None, min_length=1, description="name of a profile, or a file ending in .toml"
    )
    name: str | None = Field(
        None, min_length=1, max_length=64, description="what the profile is called in results"
    )
    why: str | None = Field(None, min_length=1, description="where the replaced numbers come from")
    instructions: Instructions | None = Field(
        None, description="instructions of one transaction or one loop"
    )
    system_share: Share | None = Field(None, description="share of the time spent in the kernel")
    eicpi: Cpi | None = Field(None, description="cycles per instruction with an infinite cache")
    control_share: Share | None = Field(
        None,
        description=(
            "instructions that change the state of the processor or are left to millicode, in an"
            " instruction"
        ),
    )
    branch_misses: Misses | None = Field(
        None,
        description=(
            "taken branches, in an instruction, whose targets a core lacks that knows 8192"
        ),
    )
    issue_share: Share | None = Field(
        None, description="share of eicpi in which issue slots are used"
    )
    miss_m0: Misses | None = Field(None, description="misses per instruction of an empty cache")
    miss_c0: CurveBytes | None = Field(None, description="capacity at which the miss curve bends")
    miss_exponent: Exponent | None = Field(None, description="how fast misses fall with capacity")
    working_set: Bytes | None = Field(
        None, description="lines touched again and again: they fit into a cache or do not"
    )
    working_set_touches: Misses | None = Field(
        None, description="touches of them per instruction, without those of the first level"
    )
    buffers: Bytes | None = Field(None, description="what a job copies from and to again and again")
    copied: Stream | None = Field(
        None, description="what of them an instruction goes through, line by line"
    )
    sharing: Share | None = Field(
        None, description="share of misses to lines that another core wrote"
    )
    footprint: Bytes | None = Field(
        None, description="what a thread touches again after it was off its core"
    )
    footprint_common: Share | None = Field(
        None, description="share of the footprint that all threads have in common"
    )
    roaming: Share | None = Field(
        None, description="share of the rest that any processor of the partition takes up"
    )
    overlap: Share | None = Field(
        None, description="share of a miss's latency hidden by other work"
    )
    dirty_share: Share | None = Field(
        None, description="share of the lines from memory that are written back later"
    )
    stream: Stream | None = Field(
        None, description="what an instruction goes through once and in order, whatever the caches"
    )
    lock_share: Share | None = Field(None, description="share of the time in which a lock is held")
    lock_hold_instructions: Instructions | None = Field(
        None, description="instructions for which it is held at a time"
    )
    lock_kind: LockKind | None = Field(
        None,
        description=(
            "what those do that wait for it: each spins on a line of its own (queue), all on the"
            " lock's, in order (ticket) or whoever comes first (test-and-set), or they leave the"
            " processor after a little (sleeping); kernel: as the guest's kernel has it"
        ),
    )
    lock_switch_instructions: Switch | None = Field(
        None, description="instructions of a switch, of which who sleeps for it pays two"
    )
    flush_instructions: Flush | None = Field(
        None,
        description=(
            "instructions of a thread between two flushes of translations that siblings may hold;"
            " 0 is never"
        ),
    )
    private_data: Share | None = Field(
        None, description="share of memory accesses to data of the thread's own"
    )
    io_data: Share | None = Field(
        None, description="share of memory accesses to the kernel's structures of I/O"
    )
    store_share: Share | None = Field(None, description="stores in an instruction")
    store_run: Run | None = Field(None, description="neighbouring stores that follow each other")

    @model_validator(mode="after")
    def _is_complete(self) -> ProfileChoice:
        """Without a base, every number must be there but those that earlier files lack."""
        if self.base is None:
            needed = (name for name in PROFILE_NUMBERS if name not in NOT_TOLD)
            missing = [name for name in needed if getattr(self, name) is None]
            if missing:
                there = f"it has no base and lacks {', '.join(missing)}"
                raise PydanticCustomError(
                    "fact", "profile", {"there": there, "next_step": 'add base = "oltp"'}
                )
        return self

    def replaced(self) -> Numbers:
        """The numbers that stand in place of the base's."""
        given = {name: getattr(self, name) for name in PROFILE_NUMBERS}
        return {name: value for name, value in given.items() if value is not None}


def _named(text: str) -> dict[str, str]:
    return {"base": text}


Profile = Annotated[
    ProfileChoice,
    OrText(
        _named,
        {
            "type": "string",
            "description": "name of a profile, or a file ending in .toml",
            "examples": ["oltp"],
        },
    ),
    Field(description="name a profile, such as oltp; `homenode profiles` lists them"),
]
