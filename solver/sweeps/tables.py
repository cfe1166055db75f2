"""The tables of a sweep's results, in SQLite or PostgreSQL."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Column,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

__all__ = ["CLAIMS", "FORMAT", "META", "POINTS", "RUNS", "TABLES"]

FORMAT = 1
"""Raised when the tables change."""

TABLES = MetaData()

META = Table(
    "gpuplan_meta",
    TABLES,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
"""format, name, sweep, catalog, version, today, axes and so on: text by key."""

RUNS = Table(
    "gpuplan_runs",
    TABLES,
    Column("id", String(32), primary_key=True),
    Column("started_at", String(32), nullable=False),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", String(64), nullable=False),
    Column("workers", String(255), nullable=False),
)
"""One row a command that added results."""

POINTS = Table(
    "gpuplan_points",
    TABLES,
    Column("id", String(32), primary_key=True),
    Column("number", Integer, nullable=False, index=True),
    Column("inputs", JSON, nullable=False),
    Column("overlay", Text),
    Column("draw", Integer),
    Column("status", String(16), nullable=False),
    Column("cost_usd", Float),
    Column("duration_days", Float),
    Column("gpus", Integer),
    Column("nodes", Integer),
    Column("gpu", Text),
    Column("provider", Text),
    Column("region", Text),
    Column("country", Text),
    Column("purchase", Text),
    Column("layout", JSON(none_as_null=True)),
    Column("bound", Float),
    Column("gap", Float),
    Column("reasons", JSON, nullable=False),
    Column("error", Text),
    Column("plan", JSON(none_as_null=True)),
    Column("wall_s", Float, nullable=False),
    Column("host", Text, nullable=False),
    Column("solved_at", String(32), nullable=False),
    Column("version", String(64), nullable=False),
    Column("catalog", String(64), nullable=False),
    Column("sweep", String(64), nullable=False),
    Column("run", String(32), nullable=False),
)
"""One row an answered point; the figures of the plan also as columns."""

CLAIMS = Table(
    "gpuplan_claims",
    TABLES,
    Column("point", String(32), primary_key=True),
    Column("run", String(32), nullable=False, index=True),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", String(32), nullable=False),
    Column("until", Float, nullable=False),
)
"""Points that a process is about to answer, and until when nobody else should."""
