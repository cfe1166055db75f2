"""The results of a sweep: what is stored, by whom it is claimed, and what is left."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from solver.errors import InputError, Issue
from solver.sweeps.database import (
    APPLICATION_ID,
    check_there,
    opened,
    shown_place,
    told,
)
from solver.sweeps.process import Owner, is_dead
from solver.sweeps.record import Record
from solver.sweeps.tables import CLAIMS, FORMAT, META, POINTS, RUNS, TABLES

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

__all__ = ["COMPARED", "LEASE_S", "Store", "stored_ids", "stored_meta"]

LEASE_S = 300.0
"""A claim that is not renewed for so long is of a process that has gone."""

COMPARED = ("sweep", "catalog", "version", "today")
"""What has to be the same for results to stand in one file."""

_AT_ONCE = 500
"""Ids of one query: databases limit the variables of a statement."""

_FROM_PLAN = (
    "cost_usd",
    "duration_days",
    "gpus",
    "nodes",
    "gpu",
    "provider",
    "region",
    "country",
    "purchase",
    "layout",
)


@dataclass
class Store:
    """Results in a database.

    Parameters
    ----------
    place
        The file or URL, as the user wrote it.
    engine
        The database.
    """

    place: str
    engine: Engine
    file: os.stat_result | None = field(default=None, compare=False)
    """What was known of the file once it was opened; None: it is a server."""

    @staticmethod
    def open(place: str, *, create: bool = False) -> Store:
        """The results at a place.

        Raises
        ------
        InputError
            They cannot be read, or are of another program or format.
        """
        store = Store(place, opened(place, create=create))
        try:
            store._prepare(create=create)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def shown_place(self) -> str:
        """The place as messages show it, without a password."""
        return shown_place(self.place)

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def _prepare(self, *, create: bool) -> None:
        with told(self.place):
            if create:
                self._make_tables()
            known = self.meta().get("format")
            if known != str(FORMAT):
                what = f"of format {known}" if known else "none of a sweep"
                message = f"the results are {what}; expected format {FORMAT}"
                raise InputError(
                    [Issue("results-unreadable", message, self.shown_place)]
                )
            if self.engine.dialect.name == "sqlite":
                self.file = Path(self.place).stat()

    def _make_tables(self) -> None:
        if self.engine.dialect.name == "sqlite":
            with self.engine.connect() as connection:
                driver = connection.connection.driver_connection
                if driver is not None:
                    driver.execute(f"PRAGMA application_id={APPLICATION_ID}")
                    driver.execute("PRAGMA journal_mode=WAL")
        with self._writing() as connection:
            TABLES.create_all(connection)
            self._insert(connection, META, [{"key": "format", "value": str(FORMAT)}])

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction that writes, alone; of a file only while it is still there.

        Else a point could be stored, and its claim given back, between the two looks
        at it that a claim takes: it would be answered again.
        """
        if self.file is not None:
            check_there(self.place, self.file)
        writer = self.engine.execution_options(gpuplan_writes=True)
        with told(self.place), writer.begin() as connection:
            if self.engine.dialect.name == "postgresql":  # SQLite has one writer anyway
                lock = f"SELECT pg_advisory_xact_lock({APPLICATION_ID})"
                connection.exec_driver_sql(lock)
            yield connection

    def _insert(
        self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> int:
        """Insert rows, leaving out those whose key is there; how many were new."""
        if not rows:
            return 0
        dialect = {"sqlite": sqlite, "postgresql": postgresql}[self.engine.dialect.name]
        statement = dialect.insert(table).on_conflict_do_nothing()
        inserted = statement.returning(*table.primary_key)  # not all drivers count rows
        return sum(len(connection.execute(inserted, row).all()) for row in rows)

    def meta(self) -> dict[str, str]:
        """All that is known of the sweep, as text by key; empty: nothing yet."""
        with told(self.place), self.engine.connect() as connection:
            if not self.engine.dialect.has_table(connection, META.name):
                return {}
            return {row.key: row.value for row in connection.execute(select(META))}

    def describe(self, facts: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """Note what the sweep is, where nothing is noted yet; else what differs.

        Returns
        -------
        dict
            Key of `COMPARED` to what is stored and what was given.
        """
        given = {key: _text(value) for key, value in facts.items()}
        rows = [{"key": key, "value": value} for key, value in given.items()]
        with self._writing() as connection:
            self._insert(connection, META, rows)
        known = self.meta()
        return {
            key: (known[key], given[key])
            for key in COMPARED
            if key in given and known.get(key) != given[key]
        }

    def note(self, facts: Mapping[str, Any]) -> None:
        """Write facts of the sweep over what was noted."""
        with self._writing() as connection:
            for key, value in facts.items():
                connection.execute(delete(META).where(META.c.key == key))
                self._insert(connection, META, [{"key": key, "value": _text(value)}])

    def begin_run(self, owner: Owner, started_at: str, version: str, how: str) -> None:
        """Note that a process adds results."""
        row = {
            "id": owner.run,
            "started_at": started_at,
            "host": owner.host,
            "pid": owner.pid,
            "version": version,
            "workers": how,
        }
        with self._writing() as connection:
            self._insert(connection, RUNS, [row])

    def stored(self) -> dict[str, str]:
        """Id of every stored point to its status."""
        with told(self.place), self.engine.connect() as connection:
            found = connection.execute(select(POINTS.c.id, POINTS.c.status))
            return {row.id: row.status for row in found}

    def claim(self, ids: Sequence[str], owner: Owner) -> tuple[list[str], list[str]]:
        """Claim points for a process.

        Returns
        -------
        claimed, stored
            Those it may answer now, and those that are answered already; others are
            claimed by a process that lives.
        """
        now = time.time()
        with self._writing() as connection:
            done = self._among(connection, POINTS.c.id, ids)
            wanted = [i for i in ids if i not in done]
            self._drop_stale(connection, wanted, now)
            rows = [
                {
                    "point": i,
                    "run": owner.run,
                    "host": owner.host,
                    "pid": owner.pid,
                    "started": owner.started,
                    "until": now + LEASE_S,
                }
                for i in wanted
            ]
            self._insert(connection, CLAIMS, rows)
            held = select(CLAIMS.c.point).where(CLAIMS.c.run == owner.run)
            ours = {row.point for row in connection.execute(held)}
        return [i for i in wanted if i in ours], [i for i in ids if i in done]

    def _among(
        self, connection: Connection, column: Any, ids: Sequence[str]
    ) -> set[str]:
        """Which of the ids a column has."""
        found: set[str] = set()
        for start in range(0, len(ids), _AT_ONCE):
            some = select(column).where(column.in_(ids[start : start + _AT_ONCE]))
            found |= {row[0] for row in connection.execute(some)}
        return found

    def _drop_stale(
        self, connection: Connection, ids: Sequence[str], now: float
    ) -> None:
        """Take away the claims of processes that have gone."""
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            held = connection.execute(select(CLAIMS).where(CLAIMS.c.point.in_(some)))
            gone = [
                row.point
                for row in held
                if row.until < now
                or is_dead(Owner(row.run, row.host, row.pid, row.started))
            ]
            connection.execute(delete(CLAIMS).where(CLAIMS.c.point.in_(gone)))

    def renew(self, owner: Owner) -> None:
        """Say that a process is still at work."""
        until = time.time() + LEASE_S
        with self._writing() as connection:
            mine = CLAIMS.c.run == owner.run
            connection.execute(update(CLAIMS).where(mine).values(until=until))

    def release(self, owner: Owner) -> None:
        """Give back what a process has claimed and not answered."""
        with self._writing() as connection:
            connection.execute(delete(CLAIMS).where(CLAIMS.c.run == owner.run))

    def add(self, records: Sequence[Record], owner: Owner) -> set[str]:
        """Store answers in one transaction, each once; ids of those that were new."""
        ids = [record.id for record in records]
        with self._writing() as connection:
            added = {
                record.id
                for record in records
                if self._insert(connection, POINTS, [_row(record, owner)])
            }
            connection.execute(delete(CLAIMS).where(CLAIMS.c.point.in_(ids)))
        return added

    def forget_errors(self) -> int:
        """Take away points that ended in an error, to try them again; how many."""
        with self._writing() as connection:
            failed = delete(POINTS).where(POINTS.c.status == "error")
            return int(connection.execute(failed).rowcount)

    def records(self) -> Iterator[Record]:
        """All answers, in the order of their points."""
        columns = [POINTS.c[name] for name in Record.__slots__]
        ordered = select(*columns).order_by(POINTS.c.number, POINTS.c.id)
        with told(self.place), self.engine.connect() as connection:
            for row in connection.execute(ordered):
                data = dict(row._mapping)  # noqa: SLF001 (SQLAlchemy's public name)
                data["reasons"] = tuple(data["reasons"])
                yield Record(**data)

    def claims(self) -> int:
        """Points that some process is about to answer."""
        with told(self.place), self.engine.connect() as connection:
            count = text(f"SELECT count(*) FROM {CLAIMS.name}")  # noqa: S608
            return int(connection.execute(count).scalar() or 0)


def _text(value: Any) -> str:
    """A fact as it is noted."""
    return value if isinstance(value, str) else json.dumps(value)


def stored_meta(place: str) -> dict[str, str]:
    """What is noted of the results at a place; empty: there are none yet."""
    store = _existing(place)
    if store is None:
        return {}
    try:
        return store.meta()
    finally:
        store.close()


def stored_ids(place: str) -> set[str]:
    """Ids of the points that are stored at a place; empty: there are none yet."""
    store = _existing(place)
    if store is None:
        return set()
    try:
        return set(store.stored())
    finally:
        store.close()


def _existing(place: str) -> Store | None:
    """The results at a place; None: there are none yet."""
    if "://" not in place and (
        not os.path.lexists(place) or not Path(place).stat().st_size
    ):
        return None
    store = Store(place, opened(place, create=False))
    if not store.meta():
        store.close()
        return None
    store.close()
    return Store.open(place)


def _row(record: Record, owner: Owner) -> dict[str, Any]:
    """A record as a row of the table, the plan's main figures as columns."""
    plan = record.plan or {}
    row = record.as_dict() | {name: plan.get(name) for name in _FROM_PLAN}
    return row | {"reasons": list(record.reasons), "run": owner.run}
