"""The catalog: shipped entries, and over them those of the user's folders.

Folders are read in this order, and an entry with the same id in a later one replaces
that of an earlier one: the shipped catalog, the folders of the environment variable
``GPUPLAN_CATALOG``, the folders given (``--catalog DIR``).

Nothing is read before it is asked for, and architectures only one by one.
"""

import math
import os
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from functools import cached_property
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from solver.catalog.measured import CollectiveRate, MatmulRate
from solver.catalog.reading import (
    Folder,
    Part,
    Record,
    read_entry,
    read_part,
    yaml_mapping,
)
from solver.catalog.schema import (
    Architecture,
    Country,
    EgressPrice,
    Entry,
    FailureRate,
    FrameworkEntry,
    Gpu,
    IntraNodeTier,
    NetworkTier,
    Offer,
    OptimizerEntry,
    Region,
    RoundTrip,
    Server,
    StorageTier,
)
from solver.catalog.slices import Slice, is_slice, slices_of
from solver.catalog.terms import term_code
from solver.catalog.transformer_rules import SizeFault, size_faults
from solver.errors import InputError, IssueLog, nearest
from solver.files import is_file, is_folder
from solver.resources import shipped_catalog

__all__ = [
    "DERIVED",
    "ENVIRONMENT_VARIABLE",
    "PARTS",
    "Catalog",
    "complete_offer",
    "load_catalog",
]

ENVIRONMENT_VARIABLE = "GPUPLAN_CATALOG"

EntryT = TypeVar("EntryT", bound=Entry)


def complete_offer(data: dict[str, Any]) -> None:
    """Name an offer by region, server, purchase kind and term unless it has a name."""
    region = str(data.get("region", ""))
    data.setdefault("provider", region.split("/")[0])
    server = str(data.get("server", "")).removeprefix(f"{data['provider']}-")
    kind = f"{data.get('purchase', '')}{_term_suffix(data.get('min_term_hours'))}"
    data.setdefault("id", f"{region}/{server}/{kind}")


def _term_suffix(written: Any) -> str:
    """Return how the id of an offer tells its term; nothing where there is none."""
    try:
        hours = float(written or 0)
    except (TypeError, ValueError):
        return ""  # told when the value is read
    return f"-{term_code(hours)}" if 0 < hours < math.inf else ""


def _complete_region(data: dict[str, Any]) -> None:
    """Read the provider of a region from its id, or the id from its parts."""
    if "id" in data:
        provider, _, region = str(data["id"]).partition("/")
        data.setdefault("provider", provider)
        data.setdefault("region", region)
    else:
        data["id"] = f"{data.get('provider', '')}/{data.get('region', '')}"


def _size_faults(entry: Architecture) -> list[SizeFault]:
    """Return which sizes of an architecture do not go together."""
    return size_faults(entry.model_dump())


_OFFER_KEYS = frozenset(("id", "provider"))
_REGION_KEYS = frozenset(("id", "provider", "region"))

PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "gpus": Part("gpus", "folder", Gpu),
        "servers": Part("servers.csv", "table", Server),
        "intra_node": Part("intra_node.yaml", "mapping", IntraNodeTier),
        "networks": Part("networks", "folder", NetworkTier),
        "storage": Part("storage", "folder", StorageTier),
        "regions": Part("regions.csv", "table", Region, _complete_region, _REGION_KEYS),
        "countries": Part("countries.csv", "table", Country),
        "offers": Part("offers", "tables", Offer, complete_offer, _OFFER_KEYS),
        "egress": Part("egress.csv", "table", EgressPrice),
        "round_trips": Part("round_trips.csv", "table", RoundTrip),
        "failure_rates": Part("failure_rates.csv", "table", FailureRate),
        "collective_rates": Part("collective_rates.csv", "table", CollectiveRate),
        "matmul_rates": Part("matmul_rates.csv", "table", MatmulRate),
        "optimizers": Part("optimizers.yaml", "mapping", OptimizerEntry),
        "frameworks": Part("frameworks", "folder", FrameworkEntry),
        "architectures": Part(
            "architectures", "folder", Architecture, check=_size_faults
        ),
    }
)
"""The parts of a catalog by the name under which `Catalog` has them."""

DERIVED: Mapping[str, type[Entry]] = MappingProxyType({"slices": Slice})
"""What no file has, for it follows from the parts."""

_OTHER_FILES = frozenset(("README.md", "LICENSE", "calibration.yaml", "measurements"))


class Catalog:
    """What can be rented, run and trained.

    Every part is a read-only mapping by id in sorted order, read when first asked for,
    so that neither the order of files nor of rows can change an answer.

    Parameters
    ----------
    folders
        Where to read, lowest precedence first.

    Raises
    ------
    InputError
        By every part: what is wrong in its files, all faults at once.
    """

    def __init__(self, folders: Sequence[Folder]) -> None:
        self.folders = tuple(folders)
        self.memo: dict[Any, Any] = {}
        """What others derived from the catalog and want to keep, by their own keys."""
        self.records: dict[str, dict[str, Record]] = {}
        self._architectures: dict[str, Record] = {}

    @cached_property
    def gpus(self) -> Mapping[str, Gpu]:
        """GPU models."""
        return self._part("gpus", Gpu)

    @cached_property
    def slices(self) -> Mapping[str, Slice]:
        """MIG slices of the GPUs: not in any file, but derived from their cards."""
        found = (part for gpu in self.gpus.values() for part in slices_of(gpu))
        return MappingProxyType({part.id: part for part in found})

    def gpu(self, gpu_id: str) -> Gpu:
        """Return a GPU, or a slice of one, by its id.

        Raises
        ------
        KeyError
            The catalog has no such GPU, or the GPU no such slice.
        """
        return self.slices[gpu_id] if is_slice(gpu_id) else self.gpus[gpu_id]

    @cached_property
    def servers(self) -> Mapping[str, Server]:
        """Kinds of node."""
        return self._part("servers", Server)

    @cached_property
    def intra_node(self) -> Mapping[str, IntraNodeTier]:
        """Links between the GPUs of a node."""
        return self._part("intra_node", IntraNodeTier)

    @cached_property
    def networks(self) -> Mapping[str, NetworkTier]:
        """Fabrics between nodes."""
        return self._part("networks", NetworkTier)

    @cached_property
    def storage(self) -> Mapping[str, StorageTier]:
        """Storage tiers."""
        return self._part("storage", StorageTier)

    @cached_property
    def regions(self) -> Mapping[str, Region]:
        """Providers' regions."""
        return self._part("regions", Region)

    @cached_property
    def countries(self) -> Mapping[str, Country]:
        """Names of the countries that regions are in."""
        return self._part("countries", Country)

    @cached_property
    def offers(self) -> Mapping[str, Offer]:
        """Prices."""
        return self._part("offers", Offer)

    @cached_property
    def egress(self) -> Mapping[str, EgressPrice]:
        """Prices of moving data out."""
        return self._part("egress", EgressPrice)

    @cached_property
    def round_trips(self) -> Mapping[str, RoundTrip]:
        """Network distances between metros."""
        return self._part("round_trips", RoundTrip)

    @cached_property
    def failure_rates(self) -> Mapping[str, FailureRate]:
        """How often jobs are interrupted."""
        return self._part("failure_rates", FailureRate)

    @cached_property
    def collective_rates(self) -> Mapping[str, CollectiveRate]:
        """Measured rates of collectives over network and intra-node tiers."""
        return self._part("collective_rates", CollectiveRate)

    @cached_property
    def matmul_rates(self) -> Mapping[str, MatmulRate]:
        """Measured rates of large matrix products."""
        return self._part("matmul_rates", MatmulRate)

    @cached_property
    def optimizers(self) -> Mapping[str, OptimizerEntry]:
        """Optimizers and their bytes."""
        return self._part("optimizers", OptimizerEntry)

    @cached_property
    def frameworks(self) -> Mapping[str, FrameworkEntry]:
        """Framework classes."""
        return self._part("frameworks", FrameworkEntry)

    @cached_property
    def calibration(self) -> Mapping[str, Any]:
        """Fitted constants of the performance model, as calibration.yaml has them."""
        merged: dict[str, Any] = {}
        for folder in self.folders:
            file = folder.root / "calibration.yaml"
            if is_file(file):
                name = f"{folder.name}/calibration.yaml"
                merged = _merged(merged, yaml_mapping(file, name))
        return MappingProxyType(merged)

    @cached_property
    def providers(self) -> tuple[str, ...]:
        """Who offers something or has a region, sorted."""
        names = {offer.provider for offer in self.offers.values()}
        return tuple(sorted(names | {r.provider for r in self.regions.values()}))

    @cached_property
    def architecture_files(self) -> Mapping[str, tuple[Traversable, str]]:
        """File and its name in messages of every architecture, by id."""
        files: dict[str, tuple[Traversable, str]] = {}
        for folder in self.folders:
            place = folder.root / "architectures"
            for file in place.iterdir() if is_folder(place) else ():
                if file.name.endswith(".yaml"):
                    name = f"{folder.name}/architectures/{file.name}"
                    files[file.name.removesuffix(".yaml")] = (file, name)
        return MappingProxyType(dict(sorted(files.items())))

    def architecture(self, architecture_id: str) -> Architecture:
        """Return one transformer by its id.

        Raises
        ------
        KeyError
            The catalog has none of that id; `names.resolve_architecture` knows aliases.
        InputError
            Its file is wrong.
        """
        if architecture_id not in self._architectures:
            file, name = self.architecture_files[architecture_id]
            record = read_entry(PARTS["architectures"], file, name)
            self._architectures[architecture_id] = record
        return cast("Architecture", self._architectures[architecture_id].entry)

    def entries(self, kind: str) -> Mapping[str, Entry]:
        """Return a part by its name in `PARTS` or `DERIVED`.

        Of ``architectures`` all are read.
        """
        if kind == "architectures":
            return self._all_architectures()
        if kind not in (*PARTS, *DERIVED):
            raise KeyError(kind)
        return cast("Mapping[str, Entry]", getattr(self, kind))

    def _all_architectures(self) -> Mapping[str, Architecture]:
        """Return every architecture by id.

        Raises
        ------
        InputError
            What is wrong in their files, all faults at once.
        """
        log = IssueLog()
        entries: dict[str, Architecture] = {}
        for entry_id in self.architecture_files:
            try:
                entries[entry_id] = self.architecture(entry_id)
            except InputError as error:
                log.extend(error.issues)
        log.raise_if_any()
        return MappingProxyType(entries)

    def definitions(
        self, kind: str, entry_id: str
    ) -> tuple[tuple[Folder, Record], ...]:
        """Return an entry as each folder has it that has it, the one in use last.

        Empty for an entry of no file, such as an offer of a scenario.
        """
        part, found = PARTS[kind], []
        for folder in self.folders:
            if part.form == "folder":
                file = folder.root / part.file / f"{entry_id}.yaml"
                if is_file(file):
                    name = f"{folder.name}/{part.file}/{file.name}"
                    found.append((folder, read_entry(part, file, name)))
            else:
                record = read_part(part, folder, IssueLog()).get(entry_id)
                if record is not None:
                    found.append((folder, record))
        return tuple(found)

    def where(self, kind: str, entry_id: str, field: str | None = None) -> str | None:
        """Return ``file:line:column`` of an entry or its field; None if in no file."""
        if kind == "architectures":
            self.architecture(entry_id)
        else:
            self.entries(kind)
        records = self._architectures if kind == "architectures" else self.records[kind]
        record = records.get(entry_id)
        if record is None:
            return None
        return record.origin.where(() if field is None else (field,))

    def with_entries(
        self, *, alone: Collection[str] = (), **parts: Sequence[Entry]
    ) -> "Catalog":
        """Return a catalog that has these entries as well, over those of equal id.

        Parameters
        ----------
        alone
            Parts of which the given entries are all there is.
        parts
            Entries by part: ``offers=[…], servers=[…]``.
        """
        changed = copy(self)
        changed.memo = {}
        changed.records = dict(self.records)
        for kind, entries in parts.items():
            below: Mapping[str, Entry] = {} if kind in alone else self.entries(kind)
            merged = dict(below) | {entry.id: entry for entry in entries}
            new = {entry.id for entry in entries}
            old = self.records.get(kind, {}) if kind not in alone else {}
            changed.records[kind] = {k: v for k, v in old.items() if k not in new}
            changed.__dict__[kind] = MappingProxyType(dict(sorted(merged.items())))
        for derived in ("providers", "slices"):
            changed.__dict__.pop(derived, None)
        return changed

    def _part(self, kind: str, _model: type[EntryT]) -> Mapping[str, EntryT]:
        """Return a part's entries by id, those of later folders over earlier ones."""
        records: dict[str, Record] = {}
        log = IssueLog()
        for folder in self.folders:
            records |= read_part(PARTS[kind], folder, log)
        log.raise_if_any()
        self.records[kind] = records
        entries = {key: cast("EntryT", records[key].entry) for key in sorted(records)}
        return MappingProxyType(entries)


def load_catalog(
    folders: Sequence[Path | Traversable] = (),
    *,
    shipped: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Catalog:
    """Return the catalog of the shipped entries and of the user's folders over them.

    Parameters
    ----------
    folders
        The user's folders; later ones override earlier ones.
    shipped
        Start from the shipped catalog and the folders of ``GPUPLAN_CATALOG``. Without,
        the folders given are all there is.
    environment
        The environment variables; the process's by default.

    Raises
    ------
    InputError
        A folder does not exist or holds files that no part of a catalog has.
    """
    found: list[Folder] = []
    given: list[Path | Traversable] = list(folders)
    if shipped:
        found.append(Folder(shipped_catalog(), "catalog"))
        variables = os.environ if environment is None else environment
        extra = variables.get(ENVIRONMENT_VARIABLE, "").split(os.pathsep)
        given = [Path(name) for name in extra if name.strip()] + given
    log = IssueLog()
    for place in given:
        name = str(place) if isinstance(place, Path) else place.name
        folder = Folder(place, name.rstrip("/") or name)
        _check_folder(folder, log)
        found.append(folder)
    log.raise_if_any()
    return Catalog(found)


def _check_folder(folder: Folder, log: IssueLog) -> None:
    """Log that a folder is none, or holds what no catalog has."""
    if not is_folder(folder.root):
        log.add("folder-not-found", "no such catalog folder", folder.name)
        return
    try:
        items = sorted(folder.root.iterdir(), key=lambda item: item.name)
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror or error}"
        log.add("file-unreadable", message, folder.name)
        return
    known = {part.file for part in PARTS.values()} | _OTHER_FILES
    for item in items:
        hidden = item.name.startswith((".", "_"))
        if hidden or item.name in known or item.name.endswith((".md", ".txt")):
            continue
        message = "no part of a catalog has this name"
        hint = nearest(item.name, sorted(known))
        log.add(
            "unknown-catalog-part", message, f"{folder.name}/{item.name}", None, hint
        )


def _merged(low: dict[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Return two nested mappings as one, the second's values winning."""
    result = dict(low)
    for key, value in high.items():
        below = result.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        result[key] = _merged(cast("dict[str, Any]", below), value) if both else value
    return result
