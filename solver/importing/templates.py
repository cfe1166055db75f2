"""``gpuplan catalog template``: files to fill in, each with an example that loads."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from textwrap import wrap
from typing import Any

from solver.accuracy.columns import COLUMNS
from solver.catalog.fields import Column, columns_of
from solver.catalog.load import PARTS, load_catalog
from solver.catalog.schema import Entry
from solver.field_texts import field_texts
from solver.importing.entries import entry_text
from solver.messages import sentence
from solver.scenario.csv_offers import LISTS
from solver.scenario.model_schema import ModelSpec
from solver.scenario.supply_schema import OfferSpec, OwnNetworkSpec

__all__ = ["KINDS", "Template", "offer_columns", "template_of"]

WIDTH = 88

OWN = "offers"
"""The kind of a table for ``--offers``; the tables of a catalog folder are `prices`."""

_TABLES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    # kind: part of the catalog, file, example
    "prices": (
        "offers",
        "offers/aws.csv",
        {
            "region": "aws/us-east-1",
            "server": "aws-p5.48xlarge",
            "purchase": "on_demand",
            "usd_per_node_hour": "38.50",
            "max_nodes": "16",
            "available": "4;2027-03-01:12",
            "source": "our contract",
            "as_of": "2026-11-01",
        },
    ),
    "servers": (
        "servers",
        "servers.csv",
        {
            "id": "acme-8x-h100",
            "provider": "acme",
            "gpu": "h100-sxm-80gb",
            "gpus_per_node": "8",
            "intra_node": "nvswitch-nvlink4",
            "intra_node_kind": "nvswitch",
            "intra_node_gb_per_s": "450",
            "nvlink_domain_gpus": "8",
            "network": "infiniband-ndr-400",
            "network_gbps": "3200",
            "vcpus": "192",
            "ram_gb": "2048",
            "local_nvme_tb": "30.7",
            "source": "our data sheet",
            "as_of": "2026-11-01",
        },
    ),
    "regions": (
        "regions",
        "regions.csv",
        {
            "id": "acme/sg-1",
            "name": "Singapore",
            "city": "Singapore",
            "country": "SG",
            "source": "our data centre",
            "as_of": "2026-11-01",
        },
    ),
    "egress": (
        "egress",
        "egress.csv",
        {
            "id": "acme-internet",
            "origin": "acme/*",
            "destination": "internet",
            "usd_per_gb": "0.05",
            "source": "our contract",
            "as_of": "2026-11-01",
        },
    ),
}

_FILES: Mapping[str, tuple[str, str]] = {
    # kind: shipped entry that is the example, and the id of the copy
    "gpus": ("h100-sxm-80gb", "my-gpu"),
    "networks": ("infiniband-ndr-400", "my-network"),
    "storage": ("lustre", "my-storage"),
    "architectures": ("llama-3.1-8b", "my-model"),
}

MEASURED = "measurements"
"""The kind of a table of one's own measurements, for ``gpuplan accuracy``."""

KINDS = (OWN, *_TABLES, *_FILES, MEASURED)
"""What there are templates of."""

_OFFER_EXAMPLE = {
    "name": "acme-h100",
    "gpu": "h100-sxm-80gb",
    "gpus_per_node": "8",
    "network.gbps_per_node": "3200",
    "network.kind": "infiniband",
    "max_nodes": "32",
    "usd_per_gpu_hour": "2.10",
    "region": "Singapore",
    "country": "SG",
    "note": "an example: replace this row",
}

_MEASURED_EXAMPLE = {
    "id": "run-1",
    "step_time_s": "3.31",
    "peak_memory_gib": "41.7",
    "model": "llama-2-7b",
    "seq": "4096",
    "gpu": "H100-SXM-80GB",
    "n_gpus": "16",
    "precision": "bf16",
    "zero_stage": "3",
    "mbs": "2",
    "gbs": "128",
    "framework": "PyTorch FSDP",
    "note": "an invented example: replace this row",
}


@dataclass(frozen=True, slots=True)
class Template:
    """A file to fill in.

    Parameters
    ----------
    kind
        One of `KINDS`.
    file
        What to save it as, in a catalog folder but for ``offers`` and
        ``measurements``.
    columns
        Its columns or keys.
    text
        The file itself.
    """

    kind: str
    file: str
    columns: tuple[Column, ...]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fields in the order of the JSON contract."""
        columns = [
            {"name": c.name, "needed": c.needed, "meaning": c.meaning}
            for c in self.columns
        ]
        return {
            "kind": self.kind,
            "file": self.file,
            "columns": columns,
            "text": self.text,
        }


def template_of(kind: str) -> Template:
    """Return the template of a kind of entry.

    Parameters
    ----------
    kind
        One of `KINDS`.
    """
    if kind == OWN:
        columns, file = offer_columns(), "my-offers.csv"
        return Template(
            kind, file, columns, _table(kind, file, columns, _OFFER_EXAMPLE)
        )
    if kind == MEASURED:
        columns, file = _of_measurements(), "my-measurements.csv"
        text = _table(kind, file, columns, _MEASURED_EXAMPLE)
        return Template(kind, file, columns, text)
    if kind in _TABLES:
        part, file, example = _TABLES[kind]
        columns = columns_of(part)
        return Template(kind, file, columns, _table(kind, file, columns, example))
    shipped, copy = _FILES[kind]
    columns = _of_a_model() if kind == "architectures" else columns_of(kind)
    file = f"{PARTS[kind].file}/{copy}.yaml"
    catalog = load_catalog(environment={})
    entry = (
        catalog.architecture(shipped)
        if kind == "architectures"
        else catalog.entries(kind)[shipped]
    )
    return Template(kind, file, columns, _file(kind, file, columns, entry))


def offer_columns() -> tuple[Column, ...]:
    """Return the columns of a table of one's own offers: the keys of an offer.

    Those of its network have ``network.`` before them.
    """
    found: list[Column] = []
    texts, of_network = field_texts(OfferSpec), field_texts(OwnNetworkSpec)
    for name, field in OfferSpec.model_fields.items():
        if name != "network":
            meaning = _meaning(texts.get(name))
            found.append(Column(name, field.is_required(), meaning, ""))
            continue
        for inner in OwnNetworkSpec.model_fields:
            meaning = _meaning(of_network.get(inner))
            found.append(Column(f"network.{inner}", False, meaning, ""))
    return tuple(found)


def _of_measurements() -> tuple[Column, ...]:
    """Return the columns of a table of measurements that are read."""
    return tuple(
        Column(name, name == "gpu", column.meaning, "")
        for name, column in COLUMNS.items()
        if not column.meaning.casefold().endswith("not read.")
    )


def _of_a_model() -> tuple[Column, ...]:
    """Return the keys of an architecture; its sizes are those of a scenario's model."""
    sizes = field_texts(ModelSpec)
    return tuple(
        column
        if column.meaning or column.name not in sizes
        else replace(column, meaning=_meaning(sizes[column.name]))
        for column in columns_of("architectures")
    )


def _meaning(text: str | None) -> str:
    """Return a field's text as one line."""
    return " ".join((text or "").split())


def _table(
    kind: str, file: str, columns: Sequence[Column], example: Mapping[str, str]
) -> str:
    """Return a table with its columns explained and a row of example."""
    output = StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    writer.writerow([example.get(column.name, "") for column in columns])
    return _comments(kind, file, columns) + output.getvalue()


def _file(kind: str, file: str, columns: Sequence[Column], entry: Entry) -> str:
    """Return a YAML file with its keys explained and the values of an entry."""
    named = entry.model_copy(update={"aliases": (), "hf_id": "", "note": ""})
    return _comments(kind, file, columns) + entry_text(named)


def _comments(kind: str, file: str, columns: Sequence[Column]) -> str:
    """Return the lines that say what a file is and what its columns mean."""
    titles = [sentence(f"template.{kind}", file=file), sentence("template.form")]
    if any(column.name in LISTS for column in columns):
        titles.append(sentence("template.lists"))
    lines = [line for title in titles for line in _wrapped(title)]
    for column in columns:
        needed = f" ({sentence('template.needed')})" if column.needed else ""
        limits = f" [{column.limits}]" if column.limits else ""
        text = f"{column.name}{needed}: {column.meaning}{limits}"
        lines += _wrapped(text, "  ", "      ")
    return "".join(f"# {line}\n" for line in lines)


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Return the lines of a comment."""
    return wrap(
        text,
        WIDTH - 2,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
