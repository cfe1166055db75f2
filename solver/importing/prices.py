"""``gpuplan catalog import skypilot|gpuhunt|vantage``: price lists into a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from solver.catalog.load import Catalog, load_catalog
from solver.dates import first_day, last_today, today
from solver.errors import InputError, Issue, IssueLog, shown
from solver.files import is_file, is_folder
from solver.importing.folder import changed_folder, checked, write_overlay
from solver.importing.gpuhunt import read_gpuhunt
from solver.importing.overlay import Overlay, Stamp, overlay_of, provider_id
from solver.importing.quotes import Findings, Quote, grouped
from solver.importing.skypilot import read_skypilot
from solver.importing.tables import Source
from solver.importing.vantage import read_vantage

__all__ = [
    "TOOLS",
    "ImportOptions",
    "PriceImport",
    "check_options",
    "file_date",
    "import_prices",
]

TOOLS: Mapping[str, Callable[[Source, Findings], None]] = {
    "skypilot": read_skypilot,
    "gpuhunt": read_gpuhunt,
    "vantage": read_vantage,
}
"""How the price list of each tool is read."""

DEFAULT_PROVIDER = {"vantage": "aws"}
_NO_NAMES = ("vms", "instances")
"""Stems of files that say nothing of whose prices they hold: the folder's name does."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an import is told beside its files.

    Parameters
    ----------
    provider
        Whose prices the files hold; by default as their names say.
    source, as_of
        For the columns of these names; by default tool, file and digest, and the day
        on which the file was last changed.
    update
        Allow that the folder exists.
    """

    provider: str | None = None
    source: str | None = None
    as_of: str | None = None
    update: bool = False


DEFAULTS = ImportOptions()


@dataclass(frozen=True, slots=True)
class PriceImport:
    """What an import has written, left out and assumed."""

    tool: str
    out: Path
    overlay: Overlay
    findings: Findings
    files: tuple[str, ...]
    warnings: tuple[Issue, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields in the order of the JSON contract."""
        return {
            "tool": self.tool,
            "out": str(self.out),
            "files": list(self.files),
            "providers": list(self.overlay.providers),
            "offers": len(self.overlay.offers),
            "servers": len(self.overlay.servers),
            "regions": len(self.overlay.regions),
            "skipped": [remark.as_dict() for remark in self.findings.skipped],
            "assumed": [remark.as_dict() for remark in self.findings.assumed],
            "warnings": [issue.as_dict() for issue in self.warnings],
        }


def import_prices(
    tool: str,
    files: Sequence[Path],
    out: Path,
    options: ImportOptions = DEFAULTS,
) -> PriceImport:
    """Write the prices of a tool's files into a catalog folder.

    Parameters
    ----------
    tool
        Key of `TOOLS`.
    files
        What to read.
    out
        The folder.
    options
        What else is told.

    Raises
    ------
    InputError
        A file cannot be read, nothing can be taken over, or the folder cannot be
        written. Nothing is written then.
    """
    findings = Findings()
    quotes: list[tuple[Quote, Stamp]] = []
    log = IssueLog()
    try:
        check_options(options)
    except InputError as error:
        log.extend(error.issues)
    for file in files:
        try:
            source = _source(tool, file, options)
            before = len(findings.quotes)
            TOOLS[tool](source, findings)
        except InputError as error:
            log.extend(error.issues)
        else:
            stamp = _stamp(tool, source, options)
            quotes += [(quote, stamp) for quote in findings.quotes[before:]]
    log.raise_if_any()
    with changed_folder(out, update=options.update) as folder:
        overlay = overlay_of(quotes, _known(out, options), findings)
        if not overlay.offers:
            raise InputError(_nothing(findings, files))
        written = write_overlay(overlay, folder)
        warnings = checked(folder, str(out))
    return PriceImport(tool, out, overlay, findings, written, tuple(warnings))


def check_options(options: ImportOptions) -> None:
    """Refuse a date that is none or still to come, and a source that says nothing.

    Raises
    ------
    InputError
        What is wrong, all faults at once.
    """
    log = IssueLog()
    as_of, source = options.as_of, options.source
    if as_of is not None:
        first = first_day(as_of)
        if first is None:
            message = f"expected 2026-08-31, 2026-08 or 2026, not {shown(as_of)}"
            log.add("wrong-value", message, "--as-of")
        elif first > last_today(today()):
            message = f"{as_of} is still to come; today is {today()}"
            log.add("future-date", message, "--as-of")
    if source and not source.strip():
        log.add("missing-source", "expected where the figures come from", "--source")
    log.raise_if_any()


def file_date(file: Path) -> str:
    """Return the day on which a file was last changed; today where that is odd."""
    latest = last_today(today())
    try:
        changed = datetime.fromtimestamp(file.stat().st_mtime, UTC).date()
    except (OverflowError, ValueError):  # no calendar has that day
        return today().isoformat()
    return (changed if changed <= latest else today()).isoformat()


def _known(out: Path, options: ImportOptions) -> Catalog:
    """Return the catalog whose servers and regions need not be written.

    Those of the folder are among them, so that what its owner has corrected stays.
    """
    folders = [out] if options.update and is_folder(out) else []
    return load_catalog(folders, environment={})


def _source(tool: str, file: Path, options: ImportOptions) -> Source:
    """Return a file and whose prices it holds."""
    if not is_file(file):
        kind = "this is a folder; name its files" if is_folder(file) else "no such file"
        raise InputError([Issue("file-not-found", kind, str(file))])
    absolute = file.absolute()
    named = absolute.parent.name if file.stem.casefold() in _NO_NAMES else file.stem
    named = options.provider or DEFAULT_PROVIDER.get(tool, named)
    provider = provider_id(named)
    if not provider:
        message = "whose prices are these? Say --provider"
        raise InputError([Issue("missing-key", message, str(file))])
    return Source(file, str(file), provider)


def _stamp(tool: str, source: Source, options: ImportOptions) -> Stamp:
    """Return where the figures of a file come from, and their date."""
    digest = hashlib.sha256(source.file.read_bytes()).hexdigest()[:12]
    name = f"{source.provider}/{source.file.name}"
    return Stamp(
        options.source or f"{tool} {name} sha256:{digest}",
        options.as_of or file_date(source.file),
    )


def _nothing(findings: Findings, files: Sequence[Path]) -> list[Issue]:
    """Return the fault of files of which nothing can be taken over."""
    reasons = ", ".join(
        f"{reason} {len(remarks):,}" for reason, remarks in grouped(findings.skipped)
    )
    message = f"nothing to import; left out: {reasons or 'nothing'}"
    return [Issue("nothing-to-import", message, ", ".join(map(str, files)))]
