"""A PostgreSQL server of one's own for the time of a measurement.

It listens on loopback only, or where the clients of another host reach it and for these alone,
under a password made up for it, never runs as root, and keeps its cluster in the folder it is
given.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from homenode.hosts.adapter import LOOPBACK, At, Bench, Need, Served, Started
from homenode.hosts.adapters.reading import quoted
from homenode.hosts.errors import MeasureError

NEED = Need("postgres", "postgresql", side="server")
CLIENT = Need("psql", "postgresql-client")
_NAME = "bench"  # of the database and of its owner
_START_S = 60.0
_LOAD_S = 1800.0
_SPARE = 10  # connections beside the clients'
_PAUSE_S = 0.02
_STATE_LINE = 7  # of postmaster.pid, counted from 0


def owner() -> str | None:
    """Who runs the server: Debian's user for it where we are root, ourselves where we are not."""
    return "postgres" if os.geteuid() == 0 else None


@dataclass(frozen=True)
class Cluster:
    """A database cluster on disk, and the server over it while it runs."""

    bench: Bench
    folder: Path
    password: str
    port: int
    at: At = field(default_factory=At)

    @classmethod
    def made(cls, bench: Bench, folder: Path) -> Cluster:
        """A new cluster in `folder`, with one empty database.

        Raises `MeasureError` where PostgreSQL is missing or refuses.
        """
        shutil.rmtree(folder, ignore_errors=True)  # what a try that failed has left
        folder.mkdir(parents=True)
        words = folder / "password"
        words.write_text(secrets.token_hex(16))
        words.chmod(0o600)
        cluster = cls.there(bench, folder)
        _give(bench, folder)
        argv = ["-D", str(folder / "cluster"), "-U", _NAME, "-A", "scram-sha-256", "--no-sync"]
        argv += [f"--pwfile={words}", "-E", "UTF8", "--locale=C"]
        bench.run(
            [bench.program("initdb"), *argv],
            limit_s=_START_S,
            role="server",
            folder=folder,
            user=owner(),
        )
        cluster.start({})
        cluster.ask(f"create database {_NAME}", database="postgres")
        cluster.stop()
        return cluster

    @classmethod
    def there(cls, bench: Bench, folder: Path, at: At | None = None) -> Cluster:
        """The cluster that `made` left in `folder`."""
        password = (folder / "password").read_text()
        return cls(bench, folder, password, bench.free_port(), at or At())

    @classmethod
    def reached(cls, bench: Bench, served: Served) -> Cluster:
        """What clients may ask of a server that another bench has started."""
        at = At(served.address)
        return cls(bench, bench.folder, served.words["password"], served.ports[0], at)

    def served(self) -> Served:
        """What they must know for it."""
        return Served(self.at.address, (self.port,), {"password": self.password})

    def copied(self, folder: Path) -> Cluster:
        """A copy of the stopped cluster, so that what is written to it is gone afterwards."""
        argv = ["cp", "-a", str(self.folder), str(folder)]
        self.bench.run(argv, limit_s=10 * _START_S, role="server")
        return replace(self, folder=folder)

    def start(self, settings: Mapping[str, str]) -> Started:
        """The server, answering when this returns. `settings` as in postgresql.conf.

        Raises `MeasureError` if it dies or does not come up in time.
        """
        every = {
            "listen_addresses": self.at.address,
            "port": str(self.port),
            "unix_socket_directories": "",
            **settings,
        }
        self._admit()
        argv = [self.bench.program("postgres"), "-D", str(self.folder / "cluster")]
        for name, value in every.items():
            argv += ["-c", f"{name}={value}"]
        server = self.bench.start(argv, role="server", folder=self.folder, user=owner())
        self.bench.wait_for_port(self.port, limit_s=_START_S, of=server)
        self._wait_until_ready(server)
        return server

    def load(self, argv: Sequence[str]) -> None:
        """Tables that a client program makes, vacuumed, written out; the server ends by that."""
        self.start({"autovacuum": "off", "fsync": "off", "max_wal_size": "256MB"})
        self.bench.run(argv, limit_s=_LOAD_S, env=self.environment())
        self.ask("vacuum (freeze, analyze)")
        self.ask("create extension pg_prewarm")
        self.stop()

    def work(self, clients: int, buffers_mib: int) -> None:
        """The server as it is measured: nothing falls into some repetitions and not into others."""
        self.start(
            {
                "shared_buffers": f"{buffers_mib}MB",
                "max_connections": str(clients + _SPARE),
                "autovacuum": "off",
                "checkpoint_timeout": "1h",
                "max_wal_size": "8GB",
            }
        )

    def stop(self) -> None:
        """End the server cleanly: everything is written to the cluster."""
        argv = [self.bench.program("pg_ctl"), "stop", "-D", str(self.folder / "cluster")]
        self.bench.run(
            [*argv, "-m", "fast", "-w", "-s"],
            limit_s=2 * _START_S,
            role="server",
            folder=self.folder,
            user=owner(),
        )

    def environment(self) -> dict[str, str]:
        """What a client needs to get in; the password is on no command line."""
        return {"PGPASSWORD": self.password}

    def address(self) -> Sequence[str]:
        """The database, in the words of sysbench."""
        return (
            "--db-driver=pgsql",
            f"--pgsql-host={self.at.address}",
            f"--pgsql-port={self.port}",
            f"--pgsql-user={_NAME}",
            f"--pgsql-db={_NAME}",
        )

    def login(self) -> Sequence[str]:
        """The database, in the words of PostgreSQL's own clients."""
        return ("-h", self.at.address, "-p", str(self.port), "-U", _NAME, "-d", _NAME)

    def ask(self, statement: str, *, database: str = _NAME) -> str:
        """The answer to one statement, fields parted by `|`."""
        argv = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        argv += [*self.login()[:-1], database, "-c", statement]
        done = self.bench.run(argv, limit_s=10 * _START_S, env=self.environment())
        return done.stdout.decode().strip()

    def _admit(self) -> None:
        """Let clients of another host in, and this one by the same address; a new cluster lets in
        loopback alone.
        """
        rules = self.folder / "cluster" / "pg_hba.conf"
        for comer in sorted({self.at.address, self.at.clients} - {LOOPBACK}):
            line = f"host all {_NAME} {comer}/32 scram-sha-256\n"
            if line not in rules.read_text():
                with rules.open("a") as file:
                    file.write(line)

    def _wait_until_ready(self, server: Started) -> None:
        """It listens before it answers: after a crash it recovers first. The state stands in the
        eighth line of its own file, where pg_ctl looks too.
        """
        until = time.monotonic() + _START_S
        while server.alive() and time.monotonic() < until:
            if self._state() == "ready":
                return
            time.sleep(_PAUSE_S)
        raise MeasureError(
            "PostgreSQL did not come up",
            there=quoted(server.output()),
            next_step="read its log beside the result",
        )

    def _state(self) -> str:
        """What the server says of itself; empty before it says anything."""
        try:
            lines = (self.folder / "cluster" / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:  # not yet, or no more
            return ""
        return lines[_STATE_LINE].strip() if len(lines) > _STATE_LINE else ""


def _give(bench: Bench, folder: Path) -> None:
    """Make it the server's own."""
    user = owner()
    if user is not None:
        bench.give(folder, user)
