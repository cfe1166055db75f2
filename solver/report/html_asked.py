"""What was asked, and what answered it: the last part of a page."""

from __future__ import annotations

import json

from solver.messages import sentence
from solver.plan import PlanResult
from solver.report.html_blocks import Source
from solver.wording import day_text

__all__ = ["asked_block", "footer_text"]


def asked_block(result: PlanResult) -> tuple[Source, ...]:
    """Return the scenario as it was asked, as a document that can be asked again."""
    if result.request is None:
        return ()
    text = json.dumps(result.request["scenario"], indent=2, ensure_ascii=False)
    return (Source("asked", sentence("html.asked"), text),)


def footer_text(result: PlanResult) -> str:
    """Return what computed the page, of which catalog and on which day."""
    versions = ", ".join(f"{name} {v}" for name, v in result.versions.items())
    if result.request is None:
        return versions
    made = sentence(
        "html.footer",
        day=day_text(result.request["day"]),
        digest=result.request["catalog"]["digest"],
    )
    return f"{made} {versions}."
