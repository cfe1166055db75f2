"""English texts about imports; `solver.messages` says how they are used."""

__all__ = ["IMPORTING"]

IMPORTING = {
    "headline.import": (
        "{offers:,} {offers:offer|offers} of {providers} written to {out}"
    ),
    "headline.import.entry": "{name} written to {file}",
    "section.import.written": "Written",
    "section.import.skipped": "Left out; --json lists each",
    "section.import.assumed": "Assumed; the notes of the rows say so",
    "section.import.warnings": "Worth a look",
    "row.import.offers": "offers",
    "row.import.servers": "new servers",
    "row.import.regions": "new regions",
    "row.import.files": "files",
    "column.import.count": "rows",
    "column.import.reason": "why",
    "column.import.examples": "for instance",
    "value.import.try": "gpuplan solve SCENARIO --catalog {out}",
    "row.import.try": "to plan with it",
    "row.import.parameters": "parameters",
    "row.import.active": "active a token",
    "row.import.sizes": "sizes",
    "value.import.model": "gpuplan solve SCENARIO --catalog {out} --set model={id}",
    "note.import.replaces": (
        "The shipped catalog has {id} too; with --catalog this entry goes before it."
    ),
    "template.offers": (
        "Offers of your own: save as {file}, then 'gpuplan solve SCENARIO --offers "
        "{file}'. A scenario may name the file as well (offers: {file})."
    ),
    "template.prices": (
        "Prices of a catalog folder: save as {file} in it, a file a provider, and give "
        "the folder with --catalog."
    ),
    "template.servers": "Kinds of node of a catalog folder: save as {file} in it.",
    "template.regions": "Regions of a catalog folder: save as {file} in it.",
    "template.egress": (
        "Prices of moving data out, of a catalog folder: save as {file} in it."
    ),
    "template.gpus": (
        "A GPU of a catalog folder: save as {file} in it; the file's name is the id."
    ),
    "template.networks": (
        "A fabric between nodes, of a catalog folder: save as {file} in it; the file's "
        "name is the id."
    ),
    "template.storage": (
        "A storage tier of a catalog folder: save as {file} in it; the file's name is "
        "the id."
    ),
    "template.architectures": (
        "A model of a catalog folder: save as {file} in it; the file's name is the id."
    ),
    "template.measurements": (
        "Measurements of your own: save as {file}, then 'gpuplan accuracy {file}'. One "
        "of step_time_s, peak_memory_gib and fits is needed, or tokens_b and gpu_hours "
        "for a whole run."
    ),
    "template.form": (
        "Lines that start with # are comments. What is left empty or out is as usual."
    ),
    "template.lists": (
        "Lists are separated by ; in a cell: stock by date is 4;2027-03-01:12 (4 nodes "
        "now, 12 more from then on), storage is names."
    ),
    "template.needed": "needed",
    "import.skipped.unknown-column": "a column that is not read",
    "import.skipped.unreadable": "a cell that cannot be read",
    "import.skipped.cpu-only": "no GPU",
    "import.skipped.tpu": "a TPU: not a GPU of the catalog",
    "import.skipped.unknown-gpu": "the catalog has no such GPU",
    "import.skipped.unknown-memory": "the catalog has no such GPU of this memory",
    "import.skipped.part-of-a-gpu": "a part of a GPU",
    "import.skipped.impossible-node": "no node has so many GPUs of this kind",
    "import.skipped.no-price": "no price",
    "import.skipped.no-accelerator-price": "a host whose GPUs have no price here",
    "import.skipped.no-host-price": "GPUs whose host has no price here",
    "import.skipped.attached-gpu": "GPUs that are attached to a host of one's choice",
    "import.skipped.flexible-start": (
        "below the spot price: a flexible start (Dynamic Workload Scheduler), not on "
        "demand"
    ),
    "import.skipped.other-system": "an operating system other than Linux",
    "import.skipped.other-currency": "priced in yuan, not in US dollars",
    "import.skipped.term": "a term that is not known",
    "import.assumed.form-of-provider": (
        "PCIe or SXM not stated: as in the provider's other servers"
    ),
    "import.assumed.form-of-board": (
        "PCIe or SXM not stated: SXM, as eight make a board"
    ),
    "import.assumed.form-slowest": "PCIe or SXM not stated: the slower card",
    "import.assumed.count-of-catalog": (
        "the number of GPUs differs from the catalog's, which was taken"
    ),
    "import.assumed.new-provider": (
        "the catalog has no such provider; if it is another, say --provider"
    ),
    "import.assumed.one-node": "network between nodes not known: one node only",
}
