"""Tests of Dask clusters and PostgreSQL: the same answers, in another place."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from solver.errors import InputError
from solver.sweeps.process import this_process
from solver.sweeps.store import Store, stored_meta
from solver.sweeps.workers import Here, OnDask
from tests.cli.running import ROOT, run_process
from tests.sweeps.examples import prepared, written
from tests.sweeps.test_running import answers, run
from tests.sweeps.test_store import record

DATABASE = os.environ.get("GPUPLAN_TEST_DATABASE", "")
"""URL of a PostgreSQL database to make schemas in; .ci/run starts one."""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a Dask scheduler with two worker processes."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("dask")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    }
    file = folder / "scheduler.json"
    options = ["--scheduler-file", str(file)]
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    local = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    commands = [[*module, *local, *options]]
    module = [sys.executable, "-m", "distributed.cli.dask_worker"]
    settings = ["--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
    settings += ["--local-directory", str(folder)]
    commands.append([*module, *settings, *options])
    with (folder / "log.txt").open("wb") as log:
        started = [
            subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            for command in commands
        ]
        try:
            yield _address(file)
        finally:
            for process in reversed(started):
                process.terminate()
            for process in started:
                process.wait(timeout=30)


def _address(file: Path) -> str:
    """Return the address that a scheduler writes once it listens."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = re.search(r'"address": "([^"]+)"', _content(file))
        if found:
            return found[1]
        time.sleep(0.1)
    pytest.fail("the Dask scheduler does not start")


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def test_dask_answers_as_this_process_does(scheduler: str, tmp_path: Path) -> None:
    """Tests that it does not matter where points are answered."""
    ready = prepared(tmp_path)
    run(ready, tmp_path / "here.db", Here())
    outcome = run(ready, tmp_path / "dask.db", OnDask(scheduler))
    assert (outcome.complete, outcome.new) == (True, 12)
    assert answers(tmp_path / "dask.db") == answers(tmp_path / "here.db")


def test_dask_from_the_command_line(scheduler: str, tmp_path: Path) -> None:
    """Tests the option, and that no more is printed than without."""
    words = ["--out", tmp_path / "r.db", "--scheduler", scheduler, "--json"]
    ran = run_process("sweep", "run", written(tmp_path), *words)
    assert (ran.status, ran.data["complete"]) == (0, True), ran.err
    both = run_process("sweep", "run", written(tmp_path), *words, "--workers", "2")
    assert both.status == 2


def test_a_dask_worker_that_dies_loses_nothing(scheduler: str, tmp_path: Path) -> None:
    """Tests a worker that is killed amid its work: the nanny starts another."""
    from distributed import Client

    ready = prepared(tmp_path)
    killed: list[str] = []

    def kill_one(_: object) -> None:
        if not killed:
            with Client(scheduler, set_as_default=False) as client:
                worker = next(iter(client.scheduler_info()["workers"]))
                killed.append(worker)
                end = client.submit(
                    os._exit, 1, workers=[worker], pure=False, allow_other_workers=False
                )
                with pytest.raises(Exception, match=r"os|_exit|died|worker"):
                    end.result(timeout=30)

    outcome = run(ready, tmp_path / "r.db", OnDask(scheduler), watch=kill_one)
    assert (outcome.complete, outcome.failed) == (True, 0)
    assert killed
    run(ready, tmp_path / "here.db", Here())
    assert answers(tmp_path / "r.db") == answers(tmp_path / "here.db")


def test_a_cluster_that_goes_is_told_without_tracebacks(
    scheduler: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Tests that what Dask logs of a lost connection does not reach the user."""
    workers = OnDask(scheduler)
    for name in ("distributed.client", "distributed.batched", "tornado.application"):
        logging.getLogger(name).error("Traceback of a lost connection")
    workers.stop()
    assert not caplog.records


def test_no_scheduler_there(tmp_path: Path) -> None:
    """Tests that a wrong address is told, and not waited for without end."""
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        OnDask("tcp://127.0.0.1:9")


@pytest.mark.parametrize("address", ["here", "http://127.0.0.1:1", "tcp://a:b"])
def test_what_is_no_address(address: str, tmp_path: Path) -> None:
    """Tests that it is told at once, and leaves neither a client nor a file."""
    pytest.importorskip("distributed")
    began = time.monotonic()
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        OnDask(address)
    assert time.monotonic() - began < 10


@pytest.fixture
def database() -> Iterator[str]:
    """Return the URL of an empty schema of a PostgreSQL database."""
    if not DATABASE:
        pytest.skip("GPUPLAN_TEST_DATABASE names no PostgreSQL database")
    pytest.importorskip("psycopg")
    schema = f"sweep_{uuid4().hex}"
    engine = create_engine(DATABASE.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    sign = "&" if "?" in DATABASE else "?"
    yield f"{DATABASE}{sign}options=-csearch_path%3D{schema}"
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


def test_postgresql_holds_the_same(database: str, tmp_path: Path) -> None:
    """Tests that a database on a server serves as a file does, resumed too."""
    ready = prepared(tmp_path)
    assert stored_meta(database) == {}
    words = ["sweep", "run", written(tmp_path), "--out", database, "--workers", "1"]
    ran = run_process(*words, "--json")
    assert (ran.status, ran.data["answered"]) == (0, 12), ran.err
    again = run_process(*words, "--json")
    assert (again.data["stored_before"], again.data["answered"]) == (12, 0)
    run(ready, tmp_path / "here.db", Here())
    with closing(Store.open(database)) as store:
        rows = [(r.id, r.status, r.plan, r.reasons) for r in store.records()]
    assert rows == [
        (r.id, r.status, r.plan, r.reasons) for r in answers(tmp_path / "here.db")
    ]


def test_a_database_keeps_the_first_answer(database: str) -> None:
    """Tests that an answer that is there already is not counted as new."""
    owner = this_process("run")
    with closing(Store.open(database, create=True)) as store:
        assert store.add([record("a")], owner) == {"a"}
        assert store.add([record("a"), record("b")], owner) == {"b"}
        assert store.claim(["a", "c"], owner) == (["c"], ["a"])


def test_a_database_shared_by_two(database: str, tmp_path: Path) -> None:
    """Tests that two commands may make the tables, and share the work, at once."""
    words = ["sweep", "run", str(written(tmp_path)), "--out", database, "--json"]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "solver", *words, "--workers", "1"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    told = [json.loads(process.communicate(timeout=300)[0]) for process in started]
    assert [each["ok"] for each in told] == [True, True]
    assert sum(each["answered"] for each in told) == 12


def test_a_database_that_is_not_there() -> None:
    """Tests that a server that does not answer is told without its password."""
    pytest.importorskip("psycopg")
    with pytest.raises(InputError) as caught:
        Store.open("postgresql://me:secret@127.0.0.1:9/db", create=True)
    (issue,) = caught.value.issues
    assert issue.code == "results-unreadable"
    assert "secret" not in str(issue)
