"""Long work: told as it goes, one of a kind a visitor, cancelled, never waited for without end."""

from __future__ import annotations

import asyncio
import io
import os
import resource
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from homenode.serve import bounds, child, jobs, solving
from homenode.serve.errors import RefusedError
from homenode.serve.jobs import Jobs, cancel
from homenode.serve.solving import Solving
from homenode.simulate.kept.kept_run import KeptRun

LONG = {"base": "example:frame", "edits": {}, "replications": 1000}
PATIENCE_S = 60


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def children() -> set[int]:
    """Processes at work on jobs that this one started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if b"homenode.serve.child" in words and int(parent) == os.getpid():
            found.add(int(folder.name))
    return found


class Held:
    """What keeps a worker busy until it is let go, however fast or slow either side is."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "held"
        os.mkfifo(self.pipe)

    def begin(self, desk: Solving) -> asyncio.Task[Any]:
        """A call that does not end by itself."""
        return asyncio.create_task(desk.done(Path.read_bytes, self.pipe))

    async def let_go(self) -> None:
        """The call ends; one that has not come to it yet is waited for."""
        await asyncio.to_thread(self.pipe.write_bytes, b"")


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_run_is_kept_listed_shown_and_handed_over(visitor: Any, small: bytes, out: Path) -> None:
    name = visitor.send("/api/upload", small, content_type="application/toml").json()["scenario"]
    layout = {"base": f"scenario:{name}", "edits": {}}
    event, told = visitor.ended("/api/run", {**layout, "replications": 2, "seed": 7})
    assert event == "done"
    run = told["result"]["run"]
    assert KeptRun.load(run, out).id == run
    assert run in [one["id"] for one in visitor.get("/api/start").json()["runs"]]
    shown = visitor.get(f"/api/runs/{run}").json()
    assert [one["title"] for one in shown["sections"]][:3] == ["Question", "Layout", "Answer"]
    assert any(one["tables"] for one in shown["sections"])
    pictures = [each for one in shown["sections"] for each in one["pictures"]]
    assert pictures
    assert all(one["svg"].startswith("<svg") and one["says"] for one in pictures)
    kept = {"base": f"run:{run}", "edits": {}}
    assert shown["layout"] == kept
    solved = [visitor.ask("/api/layout", one).json()["solved"] for one in (layout, kept)]
    assert solved[0]["partitions"] == solved[1]["partitions"]
    report = visitor.ask("/api/download", {**kept, "what": "report"})
    assert report.status_code == 200
    assert report.text.startswith("<!")


def test_two_kept_runs_are_held_against_each_other_as_simulated(
    visitor: Any, small: bytes, out: Path
) -> None:
    name = visitor.send("/api/upload", small, content_type="application/toml").json()["scenario"]
    runs = []
    for loops in (2, 1):
        edits = {"partition.one.workload.count": loops}
        asked = {"base": f"scenario:{name}", "edits": edits, "replications": 2}
        runs.append(visitor.ended("/api/run", asked)[1]["result"]["run"])
    left, right = ({"base": f"run:{run}", "edits": {}} for run in runs)
    told = visitor.ask("/api/difference", {"left": left, "right": right}).json()
    cores = [KeptRun.load(run, out).metric("one", "physc").mean or 0.0 for run in runs]
    assert [told[side]["cores"] for side in ("left", "right")] == cores
    assert cores[1] < cores[0] - 0.5  # a loop less
    assert all(
        row["right"] - row["left"] == pytest.approx(row["difference"]) for row in told["rows"]
    )
    assert told["says"].startswith("Simulated: ")


HOST = """\
machine = {{ model = "intel-xeon-6240-2s", policy = "{policy}" }}
run = {{ duration = "20 ms", warmup = "10 ms" }}

[[partition]]
name = "web"
processors = {{ mode = "shared", virtual = 2 }}
memory = "8 GiB"
workload = {{ kind = "loops", count = 2, endless = true, profile = "oltp" }}
"""


@pytest.mark.parametrize(
    ("policy", "define"),
    [("linux", "virsh define web.xml\n"), ("credit2", "virsh -c xen:///system define web.xml\n")],
)
def test_a_layout_of_a_host_is_handed_out_as_domains(
    visitor: Any, policy: str, define: str
) -> None:
    told = HOST.format(policy=policy).encode()
    name = visitor.send("/api/upload", told, content_type="application/toml").json()["scenario"]
    asked = {"base": f"scenario:{name}", "edits": {}, "what": "commands"}
    answer = visitor.ask("/api/download", asked)
    assert answer.status_code == 200, answer.text
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.namelist() == ["commands/commands.txt", "commands/web.xml"]
    assert archive.read("commands/commands.txt").decode() == define
    assert b"<name>web</name>" in archive.read("commands/web.xml")


def test_commands_are_text_where_they_are_the_whole_of_it_and_refused_where_none_are_known(
    visitor: Any, small: bytes, out: Path
) -> None:
    name = visitor.send("/api/upload", small, content_type="application/toml").json()["scenario"]
    asked = {"base": f"scenario:{name}", "edits": {}, "what": "commands"}
    answer = visitor.ask("/api/download", asked)
    assert "chsyscfg" in answer.text
    kept = {one.name for one in out.iterdir()}
    told = HOST.format(policy="esxi").encode()
    name = visitor.send("/api/upload", told, content_type="application/toml").json()["scenario"]
    answer = visitor.ask("/api/download", {**asked, "base": f"scenario:{name}"})
    assert answer.status_code >= 400
    assert "no commands are known" in answer.json()["error"]["message"]
    assert {one.name for one in out.iterdir()} == kept, "nothing is simulated for it"


def test_a_job_is_cancelled_and_its_process_goes(visitor: Any, out: Path) -> None:
    before, kept = children(), {one.name for one in out.iterdir()}
    job = visitor.ask("/api/run", LONG).json()["job"]
    until(lambda: bool(children() - before))
    (process,) = children() - before
    with visitor.client.stream("GET", f"/api/jobs/{job}/events", headers=visitor.headers) as told:
        lines = told.iter_lines()
        until(lambda: "simulating" in next(lines))
        assert visitor.client.delete(f"/api/jobs/{job}", headers=visitor.headers).json() == {}
        assert "event: cancelled" in list(lines)
    until(lambda: gone(process))
    again = visitor.get(f"/api/jobs/{job}/events")
    assert "event: cancelled" in again.text
    assert {one.name for one in out.iterdir()} == kept


def test_one_of_a_kind_a_visitor_and_not_too_many_in_all(
    visitor: Any, another: Callable[[], Any]
) -> None:
    others, begun = [another() for _ in range(os.cpu_count() or 2)], []
    try:
        begun.append((visitor, visitor.ask("/api/run", LONG).json()["job"]))
        second = visitor.ask("/api/run", LONG)
        assert second.status_code == 429
        assert int(second.headers["retry-after"]) > 0
        answers = [(one, one.ask("/api/run", LONG)) for one in others]
        begun += [(who, one.json()["job"]) for who, one in answers if one.status_code == 200]
        busy = answers[-1][1]
        assert busy.status_code == 503
        assert int(busy.headers["retry-after"]) > 0
        assert "busy" in busy.text or "at work" in busy.text
        assert visitor.ask("/api/layout", LONG).json()["solved"]
        assert others[0].get(f"/api/jobs/{begun[0][1]}/events").status_code == 404
        path = f"/api/jobs/{begun[0][1]}"
        assert visitor.client.delete(path, headers=others[0].headers).status_code == 404
    finally:
        for who, job in begun:
            who.client.delete(f"/api/jobs/{job}", headers=who.headers)


@pytest.mark.parametrize(
    "asked", [{"replications": "x"}, {"seed": True}, {"replications": 0}, {"edits": {"x": 1}}]
)
def test_a_run_that_cannot_be_fails_in_words(visitor: Any, asked: dict[str, Any]) -> None:
    told = visitor.ask("/api/run", {**LONG, "replications": 1, **asked})
    if told.status_code == 200:
        event, told = visitor.ended_of(told.json()["job"])
        assert event == "failed"
        assert told["error"]["message"]
    else:
        assert told.status_code == 400


def test_advice_is_made_of_edits(visitor: Any) -> None:
    asked = {"base": "example:frame", "edits": {}, "free": ["home"], "time_s": 2}
    event, told = visitor.ended("/api/advise", asked)
    assert event == "done"
    best = told["result"]["best"][0]
    edits = {one["path"]: one["to"] for one in best["changes"]}
    layout = visitor.ask("/api/layout", {"base": "example:frame", "edits": edits})
    assert layout.status_code == 200
    # Layouts that were simulated on the way are kept, and told apart by what is changed in them.
    runs = {one["id"]: one["changes"] for one in visitor.get("/api/start").json()["runs"]}
    tried = {one["run"]: one["changes"] for one in told["result"]["best"] if one["run"]}
    assert tried
    for run, changes in tried.items():
        assert runs[run] == {one["path"]: one["to"] for one in changes}
    for wrong in (0, -1, "x", 1e9, float("nan")):
        assert visitor.ask("/api/advise", {**asked, "time_s": wrong}).status_code == 400


def test_who_never_reads_holds_nobody(visitor: Any, another: Callable[[], Any]) -> None:
    job = visitor.ask("/api/run", LONG).json()["job"]
    path = f"/api/jobs/{job}/events"
    deaf = httpx.Client(base_url=visitor.client.base_url, headers=visitor.headers)
    try:
        with deaf.stream("GET", path):
            with visitor.client.stream("GET", path, headers=visitor.headers) as told:
                lines = told.iter_lines()
                until(lambda: "simulating" in next(lines))
            assert another().ask("/api/layout", LONG).json()["solved"]
    finally:
        visitor.client.delete(f"/api/jobs/{job}", headers=visitor.headers)
        deaf.close()


async def _events(job: jobs.Job) -> list[str]:
    return [event async for _, event, _ in job.events()]


def _job(**more: Any) -> jobs.Job:
    async def worked() -> jobs.Job:
        job = Jobs().start("me", {"kind": "run", **more})
        await asyncio.wait_for(_events(job), PATIENCE_S)
        await asyncio.gather(job.task or asyncio.sleep(0))
        return job

    return asyncio.run(worked())


def test_a_child_that_breaks_ends_its_job() -> None:
    job = _job(path="there is no such key", out=3)
    assert job.state[0] == "failed"
    assert job.state[1]["error"]["next_step"]


def test_no_process_to_be_had_ends_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.sys, "executable", "/nothing")
    assert _job().state[0] == "failed"


def test_a_job_is_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_MOST_S", 0.0)
    told = _job().state
    assert told[0] == "failed"
    assert "took more than" in told[1]["error"]["message"]


def test_who_is_cancelled_early_is_told() -> None:
    async def worked() -> str:
        job = Jobs().start("me", {"kind": "run"})
        await asyncio.sleep(0)
        await cancel(job)
        return (await _events(job))[-1]

    assert asyncio.run(asyncio.wait_for(worked(), PATIENCE_S)) == "cancelled"


def test_a_kept_run_is_shown_beside_long_jobs() -> None:
    """Neither waits for the other; of each there are only so many."""

    async def asked() -> list[int]:
        there, statuses = Jobs(2), []
        for who, kind in BESIDE:
            try:
                there.start(who, {"kind": kind})
                statuses.append(200)
            except RefusedError as error:
                statuses.append(error.status)
        await there.close()
        return statuses

    answered = dict(zip(BESIDE, asyncio.run(asked()), strict=True))
    assert answered == BESIDE


BESIDE = {
    ("me", "run"): 200,
    ("you", "run"): 200,
    ("they", "run"): 503,
    ("me", "shown"): 200,
    ("you", "advise"): 503,
    ("you", "shown"): 200,
    ("they", "shown"): 200,
    ("she", "shown"): 200,
    ("he", "shown"): 503,
}
"""Who asks for what with two processors, one after the other, and what the answer is."""


def test_processes_of_jobs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(bounds.resource, "setrlimit", set_to.__setitem__)
    bounds.bound_memory()
    bounds.bound_time()
    assert all(0 < least == most for least, most in set_to.values())
    assert {resource.RLIMIT_DATA, resource.RLIMIT_CPU} == set(set_to)


def test_the_latest_of_a_visitor_wins(tmp_path: Path) -> None:
    async def asked() -> list[Any]:
        desk, held = Solving(workers=1), Held(tmp_path)
        try:
            first = asyncio.create_task(desk.latest("me", Path.read_bytes, held.pipe))
            await asyncio.sleep(0)
            later = [asyncio.create_task(desk.latest("me", time.sleep, 0.0)) for _ in range(3)]
            other = asyncio.create_task(desk.latest("you", time.sleep, 0.0))
            await held.let_go()
            return await asyncio.gather(first, *later, other, return_exceptions=True)
        finally:
            desk.close()

    first, one, two, last, other = asyncio.run(asked())
    assert (first, last, other) == (b"", None, None)
    assert [(type(each), each.status) for each in (one, two)] == 2 * [(RefusedError, 409)]


def test_who_waits_for_first_figures_comes_before_who_waits_for_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "_LONG_S", 1e9)
    done: list[str] = []

    async def asked() -> list[Any]:
        desk, held = Solving(workers=1), Held(tmp_path)

        async def ask(name: str, visitor: str, *, urgent: bool) -> None:
            await desk.latest(visitor, time.sleep, 0.0, urgent=urgent)
            done.append(name)

        try:
            tasks = [held.begin(desk)]
            for name, visitor, urgent in (
                ("details", "me", False),
                ("figures", "me", True),
                ("late details", "me", False),
                ("given up", "you", True),
                ("others", "you", False),
            ):
                await asyncio.sleep(0)
                tasks.append(asyncio.create_task(ask(name, visitor, urgent=urgent)))
            await asyncio.sleep(0)
            tasks[4].cancel()
            await held.let_go()
            return await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            desk.close()

    _, details, figures, late, given_up, others = asyncio.run(asked())
    assert isinstance(details, RefusedError)
    assert isinstance(given_up, asyncio.CancelledError)
    assert (figures, late, others) == (None, None, None)
    assert done == ["figures", "others", "late details"]


@pytest.mark.parametrize(
    ("long_s", "order"),
    [(1e9, ["third", "second", "first"]), (0.0, ["first", "second", "third"])],
)
def test_the_latest_of_many_layouts_comes_next_unless_others_have_waited_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long_s: float, order: list[str]
) -> None:
    monkeypatch.setattr(solving, "_LONG_S", long_s)
    done: list[str] = []

    async def asked() -> None:
        desk, held = Solving(workers=1), Held(tmp_path)

        async def ask(visitor: str) -> None:
            await desk.latest(visitor, time.sleep, 0.0)
            done.append(visitor)

        try:
            tasks = [held.begin(desk)]
            for visitor in ("first", "gone", "second", "gone too", "third", "gone at last"):
                await asyncio.sleep(0)
                tasks.append(asyncio.create_task(ask(visitor)))
            await asyncio.sleep(0)
            for one in tasks[2::2]:
                one.cancel()
            await held.let_go()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            desk.close()

    asyncio.run(asked())
    assert done == order


def test_what_is_superseded_waits_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "_MOST_WAITING", 4)

    async def asked() -> list[Any]:
        desk, held = Solving(workers=1), Held(tmp_path)
        try:
            tasks = [held.begin(desk)]
            for at in range(20):
                asking = desk.latest("me", time.sleep, 0.0, urgent=at % 2 == 0)
                tasks.append(asyncio.create_task(asking))
                await asyncio.sleep(0)
            await held.let_go()
            return await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            desk.close()

    first, *others, figures, details = asyncio.run(asked())
    assert (first, figures, details) == (b"", None, None)
    assert [one.status for one in others] == 18 * [409]


def test_more_than_can_wait_are_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_MOST_WAITING", 0)

    async def asked() -> None:
        desk = Solving(workers=1)
        try:
            await desk.done(time.sleep, 0)
        finally:
            desk.close()

    with pytest.raises(RefusedError) as told:
        asyncio.run(asked())
    assert (told.value.status, told.value.after_s) == (503, 1)


def test_how_soon_it_comes_is_told_by_how_long_it_took_and_by_those_before(tmp_path: Path) -> None:
    async def asked() -> list[float]:
        desk, held = Solving(workers=1), Held(tmp_path)
        try:
            told = [desk.there_in(Path.exists, tmp_path)]
            await desk.done(Path.exists, tmp_path)
            told.append(desk.there_in(Path.exists, tmp_path))
            first = held.begin(desk)
            await asyncio.sleep(0)
            told.append(desk.there_in(Path.exists, tmp_path))
            waits = asyncio.create_task(desk.latest("me", Path.exists, tmp_path, urgent=True))
            await asyncio.sleep(0)
            told.append(desk.there_in(Path.exists, tmp_path))
            await held.let_go()
            await asyncio.gather(first, waits)
            return told
        finally:
            desk.close()

    never, alone, behind_one, behind_two = asyncio.run(asked())
    assert never == float("inf")
    assert 0.0 < alone < PATIENCE_S
    assert [behind_one, behind_two] == pytest.approx([2 * alone, 3 * alone])


def test_a_lost_worker_is_replaced() -> None:
    async def asked() -> None:
        desk = Solving(workers=1)
        try:
            with pytest.raises(RefusedError) as told:
                await desk.done(os._exit, 1)
            assert told.value.status == 503
            await desk.done(time.sleep, 0.0)
        finally:
            desk.close()

    asyncio.run(asked())


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="sizes are told by /proc")
def test_workers_that_have_grown_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_LOOK", 2)

    async def asked(most: int) -> list[int]:
        monkeypatch.setattr(solving, "_MOST_RESIDENT", most)
        desk = Solving(workers=1)
        try:
            late = asyncio.create_task(desk.done(time.sleep, 0.2))
            found = [await desk.done(os.getpid) for _ in range(4)]
            await late
            return found
        finally:
            desk.close()

    assert len({*asyncio.run(asked(1 << 60))}) == 1
    assert len({*asyncio.run(asked(0))}) > 1


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_MOST_S", 0.5)

    async def asked() -> None:
        desk = Solving(workers=1)
        try:
            await desk.done(time.sleep, PATIENCE_S)
        finally:
            desk.close()

    with pytest.raises(RefusedError, match="took more than") as told:
        asyncio.run(asked())
    assert told.value.status == 503


def test_progress_is_told_as_often_as_it_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A month of recordings is played in thousands of windows, each of which says how far it is."""
    clock = [0.0]
    monkeypatch.setattr(child.time, "monotonic", lambda: clock[0])
    told: list[tuple[float | None, str]] = []
    tell = child._now_and_then(lambda share, says: told.append((share, says)))
    tell(None, "reading recordings")
    for at in range(1000):
        clock[0] += 0.001
        tell(at / 1000, "finding the work")
    tell(None, "writing")
    assert told[0] == (None, "reading recordings")
    assert told[-1] == (None, "writing")
    assert 4 <= len(told) <= 8


def test_what_rests_begins_at_once_beside_a_free_worker_and_else_when_nothing_newer_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested: list[float] = []
    sleep = asyncio.sleep

    async def rest(seconds: float) -> None:
        rested.append(seconds)
        await sleep(0)

    async def asked() -> list[Any]:
        desk, held = Solving(workers=2), Held(tmp_path)
        monkeypatch.setattr(asyncio, "sleep", rest)
        try:
            await desk.latest("me", time.sleep, 0.0, rests=True)
            assert solving._REST_S not in rested
            first = held.begin(desk)
            await sleep(0)
            tasks = [
                asyncio.create_task(desk.latest("me", time.sleep, 0.0, rests=True))
                for _ in range(2)
            ]
            found = await asyncio.gather(*tasks, return_exceptions=True)
            await held.let_go()
            return [await first, *found]
        finally:
            desk.close()

    first, superseded, latest = asyncio.run(asked())
    assert (first, latest) == (b"", None)
    assert (type(superseded), superseded.status) == (RefusedError, 409)
    assert rested.count(solving._REST_S) == 2
