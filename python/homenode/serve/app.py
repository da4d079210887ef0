"""The app: which address answers what."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from homenode.errors import HomenodeError, NotFoundError
from homenode.serve import layouts, patience
from homenode.serve.answered import Answered
from homenode.serve.errors import RefusedError, told
from homenode.serve.guard import Guard, is_local
from homenode.serve.jobs import Jobs, cancel
from homenode.serve.solving import Solving
from homenode.serve.views import start_data, studies_data, study_data
from homenode.serve.workspace import MOST_OF_VISITOR, Workspace

ASSETS = Path(__file__).parent / "assets"
_MOST_JSON = 1 << 20
_MOST_ADVICE_S = 300.0
_PING_S = 15


class Desk:
    """What the addresses share, while the server runs."""

    def __init__(self, workspace: Workspace, local: bool) -> None:
        self.workspace = workspace
        self.local = local
        self.solving = Solving()
        self.solving.warm(layouts.warm)
        self.answered = Answered(self.solving)
        self.jobs = Jobs()

    async def close(self) -> None:
        """Ends all that is at work."""
        await self.jobs.close()
        self.solving.close()
        self.workspace.close()


def application(
    workspace: Workspace,
    host: str = "127.0.0.1",
    token: str | None = None,
    names: Collection[str] = (),
) -> ASGIApp:
    """The app for a host that it listens on; `names` are further names that it may be called."""

    @contextlib.asynccontextmanager
    async def lives(app: Starlette) -> AsyncIterator[None]:
        app.state.desk = desk = Desk(workspace, is_local(host))
        try:
            yield
        finally:
            await desk.close()

    app = Starlette(
        routes=_routes(),
        lifespan=lives,
        exception_handlers={HomenodeError: _refused, HTTPException: _unknown, Exception: _broken},
    )
    return Guard(app, host, token, names)


def _routes() -> list[Route | Mount]:
    return [
        Route("/", _page),
        Mount("/assets", StaticFiles(directory=ASSETS)),
        Route("/api/start", _start),
        Route("/api/figures", _figures, methods=["POST"]),
        Route("/api/layout", _layout, methods=["POST"]),
        Route("/api/difference", _difference, methods=["POST"]),
        Route("/api/run", _run, methods=["POST"]),
        Route("/api/advise", _advise, methods=["POST"]),
        Route("/api/upload", _upload, methods=["POST"]),
        Route("/api/recordings", _recordings, methods=["POST"]),
        Route("/api/import", _import, methods=["POST"]),
        Route("/api/download", _download, methods=["POST"]),
        Route("/api/jobs/{id}/events", _events),
        Route("/api/jobs/{id}", _cancel, methods=["DELETE"]),
        Route("/api/runs/{id}", _kept),
        Route("/api/studies", _studies),
        Route("/api/studies/{name}", _study),
    ]


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _visitor(request: Request) -> str:
    return str(request.scope["visitor"])


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, HomenodeError):
        raise error
    headers = {}
    status = 404 if isinstance(error, NotFoundError) else 400
    if isinstance(error, RefusedError):
        status = error.status
        headers = {} if error.after_s is None else {"Retry-After": str(error.after_s)}
    return JSONResponse(told(error), status, headers)


async def _unknown(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return JSONResponse(told(RefusedError(status, "there is nothing of this kind here")), status)


async def _broken(_: Request, __: Exception) -> Response:
    said = "the server failed at this; its own window says more"
    step = "try something else, and tell us what you did"
    return JSONResponse({"error": {"message": said, "next_step": step, "where": None}}, 500)


async def _asked(request: Request) -> dict[str, Any]:
    """The JSON of a request, bounded."""
    content = b""
    try:
        async with asyncio.timeout(patience.BODY_S):
            async for part in request.stream():
                content += part
                if len(content) > _MOST_JSON:
                    raise RefusedError(413, "that is too much to ask at once")
    except TimeoutError as error:
        raise RefusedError(408, "it took too long to come") from error
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"this is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise RefusedError(400, "a JSON object is asked for")
    return found


def _sides(request: Request, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The file and the edits of a layout."""
    edits = asked.get("edits") or {}
    if not isinstance(edits, dict) or not all(isinstance(key, str) for key in edits):
        raise RefusedError(400, "edits are values by path")
    return _desk(request).workspace.path(_visitor(request), asked.get("base")), edits


async def _page(_: Request) -> Response:
    return FileResponse(ASSETS / "index.html")


async def _start(request: Request) -> Response:
    desk = _desk(request)
    there = desk.workspace.scenarios(_visitor(request))
    told_of = await desk.solving.done(
        start_data, str(desk.workspace.out), {name: str(path) for name, path in there.items()}
    )
    return JSONResponse({**told_of, "local": desk.local})


async def _figures(request: Request) -> Response:
    path, edits = _sides(request, await _asked(request))
    found = await _desk(request).answered.figures(_visitor(request), path, edits)
    return Response(found, media_type="application/json")


async def _layout(request: Request) -> Response:
    path, edits = _sides(request, await _asked(request))
    found = await _desk(request).answered.layout(_visitor(request), path, edits)
    return Response(found, media_type="application/json")


async def _difference(request: Request) -> Response:
    asked = await _asked(request)
    both = [asked.get(side) or {} for side in ("left", "right")]
    sides, solving = [_sides(request, one) for one in both], _desk(request).solving
    if all(str(one.get("base")).startswith("run:") and not one.get("edits") for one in both):
        runs = [path for path, _ in sides]
        return JSONResponse(await solving.done(layouts.difference_of_runs, *runs))
    return JSONResponse(await solving.done(layouts.difference, *sides))


def _work(request: Request, asked: dict[str, Any]) -> dict[str, Any]:
    path, edits = _sides(request, asked)
    return {"path": path, "edits": edits, "out": str(_desk(request).workspace.out)}


async def _run(request: Request) -> Response:
    asked = await _asked(request)
    said = {key: _whole(asked, key) for key in ("replications", "seed")}
    job = {"kind": "run", **_work(request, asked), **said}
    return _begun(request, job)


def _whole(asked: dict[str, Any], key: str) -> int | None:
    value = asked.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise RefusedError(400, f"{key} is a whole number")
    return value


async def _advise(request: Request) -> Response:
    asked = await _asked(request)
    seconds = asked.get("time_s", 20)
    if not isinstance(seconds, int | float) or not 0 < seconds <= _MOST_ADVICE_S:
        raise RefusedError(400, f"advice takes from 1 to {_MOST_ADVICE_S:g} s")
    said = {"time_s": seconds, "free": asked.get("free"), "goal": asked.get("goal")}
    return _begun(request, {"kind": "advise", **_work(request, asked), **said})


def _begun(request: Request, job: dict[str, Any]) -> Response:
    return JSONResponse({"job": _desk(request).jobs.start(_visitor(request), job).id})


async def _upload(request: Request) -> Response:
    desk = _desk(request)

    async def check(path: str) -> None:
        await desk.solving.done(layouts.check, path)

    try:
        name = await desk.workspace.scenario(_visitor(request), request.stream(), check)
    except HomenodeError as error:
        if error.where is not None and (brought := _name(request)):
            error.where = replace(error.where, file=brought)
        raise
    return JSONResponse({"scenario": name})


def _name(request: Request) -> str:
    """What its owner calls a file."""
    return unquote(request.headers.get("x-name", "")).rpartition("/")[2]


async def _recordings(request: Request) -> Response:
    batch = await _desk(request).workspace.recording(
        _visitor(request),
        request.query_params.get("batch"),
        _name(request),
        request.stream(),
    )
    return JSONResponse({"batch": batch})


async def _import(request: Request) -> Response:
    desk, visitor = _desk(request), _visitor(request)
    folder = desk.workspace.batch(visitor, (await _asked(request)).get("batch"))
    target = desk.workspace.new_folder(visitor)
    job = {
        "kind": "import", "folder": str(folder), "target": str(target),
        "unpacked": MOST_OF_VISITOR,
    }  # fmt: skip

    def kept(result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "scenario": desk.workspace.keep(visitor, target)}

    return JSONResponse({"job": desk.jobs.start(visitor, job, kept).id})


async def _events(request: Request) -> Response:
    job = _desk(request).jobs.of(request.path_params["id"], _visitor(request))

    async def lines() -> AsyncIterator[dict[str, str]]:
        async for number, event, data in job.events():
            yield {"id": str(number), "event": event, "data": json.dumps(data)}

    return EventSourceResponse(lines(), ping=_PING_S)


async def _cancel(request: Request) -> Response:
    await cancel(_desk(request).jobs.of(request.path_params["id"], _visitor(request)))
    return JSONResponse({})


async def _kept(request: Request) -> Response:
    desk, name = _desk(request), request.path_params["id"]
    desk.workspace.path(_visitor(request), f"run:{name}")
    job = {"kind": "shown", "run": name, "out": str(desk.workspace.out)}
    return JSONResponse(await desk.jobs.result(desk.jobs.start(_visitor(request), job)))


async def _studies(request: Request) -> Response:
    return JSONResponse(await _desk(request).solving.done(studies_data))


async def _study(request: Request) -> Response:
    name = request.path_params["name"]
    return JSONResponse(await _desk(request).solving.done(study_data, name))


async def _download(request: Request) -> Response:
    asked = await _asked(request)
    desk, visitor = _desk(request), _visitor(request)
    work = _work(request, asked)
    what = asked.get("what")
    if what == "scenario":
        name, content = await desk.solving.done(layouts.file_of, work["path"], work["edits"])
        kind = "application/zip" if name.endswith(".zip") else "application/toml"
        return _file(content, name, kind)
    if what == "commands":
        job = desk.jobs.start(visitor, {"kind": "commands", **work})
        files: dict[str, str] = (await desk.jobs.result(job))["files"]
        if len(files) > 1:
            told = {name: text.encode() for name, text in files.items()}
            content = layouts.archive("commands", told)
            return _file(content, "commands.zip", "application/zip")
        (text,) = files.values()
        return _file(text.encode(), "commands.txt", "text/plain; charset=utf-8")
    if what == "report":
        target = desk.workspace.new_folder(visitor).with_suffix(".html")
        base, _, run = str(asked.get("base")).partition(":")
        more = {"run": run} if base == "run" and not work["edits"] else {}
        job = desk.jobs.start(visitor, {"kind": "report", **work, **more, "target": str(target)})
        try:
            await desk.jobs.result(job)
            return _file(target.read_bytes(), "report.html", "text/html; charset=utf-8")
        finally:
            target.unlink(missing_ok=True)
    raise RefusedError(
        400, f"{what} is nothing to download", next_step="scenario, commands or report"
    )


def _file(content: bytes, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
