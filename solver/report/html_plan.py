"""An answer as an HTML page: the decision, what it is made of, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from solver.messages import sentence
from solver.plan import Message, Plan, PlanResult
from solver.report.answer_rows import known_text, message_section
from solver.report.charts_frontier import frontier_chart
from solver.report.figures import (
    Grid,
    Page,
    Row,
    Section,
    duration_text,
    number,
    percent,
)
from solver.report.html_asked import asked_block, footer_text
from solver.report.html_blocks import (
    Block,
    Chart,
    Document,
    Facts,
    Lines,
    block_of,
    blocks_of,
    table_of,
)
from solver.report.html_chain import chain_blocks, chain_facts
from solver.report.html_charts import memory_chart, share_chart, step_chart
from solver.report.html_layout import drawing
from solver.report.html_places import places
from solver.report.html_route import checklist
from solver.report.pareto_rows import WIDE, pareto_page
from solver.report.phase_rows import answer_page
from solver.report.purchase_rows import cost_text
from solver.units import format_count, format_usd
from solver.wording import day_text

if TYPE_CHECKING:
    from solver.acting.route import Route
    from solver.catalog.load import Catalog
    from solver.planning.pareto import Frontier
    from solver.planning.surroundings import Surroundings

__all__ = [
    "answer_document",
    "plan_charts",
    "plan_facts",
    "status_text",
    "tone_of",
]

_TONES = {"optimal": "good", "feasible": "warn", "unknown": "warn"}

_DRAWN = frozenset(
    (
        "section.cost",
        "section.duration",
        "section.memory",
        "section.step",
        "section.layout",
    )
)
"""Sections that stand behind a chart."""

_LAST = ("section.proof", "section.provenance")


def answer_document(
    result: PlanResult,
    catalog: Catalog,
    around: Surroundings | None = None,
    route: Route | None = None,
) -> Document:
    """Return the page of an answer.

    Parameters
    ----------
    result
        The answer, be it of one job or of several phases, or why there is none.
    catalog
        Where regions are.
    around
        The frontier and other regions, where they were asked for.
    route
        The steps from here to there, where there is a plan.
    """
    page = answer_page(result)
    sections = {part.id: part for part in page.parts}
    plan, total = result.plan, result.total
    if total is not None:
        facts, blocks = chain_facts(result), chain_blocks(result, sections)
    elif plan is not None:
        facts = plan_facts(plan, result)
        blocks = (*plan_charts(plan, sections), *_more(plan, sections, catalog, around))
    else:
        facts, blocks = Facts(()), ()
    rest = [part for part in page.parts if part.id not in _DRAWN]
    warnings = _warnings(result, page)
    return Document(
        title=f"{result.scenario} – gpuplan",
        eyebrow=result.scenario,
        headline=page.headline,
        tone=tone_of(result),
        status=status_text(result),
        facts=facts,
        blocks=(
            *blocks,
            *(_explained(rest) if plan is None and total is None else ()),
            *warnings,
            *(() if route is None else (checklist(route, folded=True),)),
            *_ordered(rest, plan is None and total is None),
            *asked_block(result),
        ),
        footer=footer_text(result),
        notices=_notices(warnings),
    )


def tone_of(result: PlanResult) -> str:
    """Return how the status of an answer is shown."""
    return _TONES.get(result.status, "bad")


def status_text(result: PlanResult) -> str:
    """Return how the answer is known, in words."""
    if result.status == "feasible":
        return known_text(result)
    names = {"optimal": "known", "infeasible": "none"}
    return sentence(f"html.{names.get(result.status, 'unknown')}")


def plan_facts(plan: Plan, result: PlanResult) -> Facts:
    """Return the key figures of a plan and of its proof."""
    memory = plan.memory_gib
    free = sentence(
        "html.fact.headroom",
        free=number(memory["capacity"] - memory["total"]),
        capacity=number(memory["capacity"]),
    )
    rows = [
        Row(sentence("html.fact.cost"), cost_text(plan), note=_late_cost(plan)),
        _finish(plan),
        Row(
            sentence("html.fact.gpus"),
            f"{plan.rented_nodes * plan.gpus_per_node:,}",
            note=f"{plan.rented_nodes:,} × {plan.server}",
        ),
        Row(
            sentence("html.fact.mfu"),
            percent(plan.mfu),
            note=sentence("html.fact.tokens", rate=format_count(plan.tokens_per_s)),
        ),
        Row(
            sentence("html.fact.memory"),
            percent(memory["total"] / memory["capacity"]),
            note=free,
        ),
        *proof_facts(result),
    ]
    return Facts(tuple(rows))


def proof_facts(result: PlanResult) -> list[Row]:
    """Return the gap and the bound, where there is one."""
    proof = result.proof
    if proof.gap is None:
        return []
    note = sentence("html.fact.candidates", candidates=proof.candidates)
    return [Row(sentence("html.fact.proof"), percent(proof.gap), note=note)]


def _late_cost(plan: Plan) -> str:
    """Return the bill that nine of ten runs keep."""
    if plan.cost_p90_usd is None:
        return ""
    return sentence("html.fact.p90", value=format_usd(plan.cost_p90_usd))


def _finish(plan: Plan) -> Row:
    """Return the day of the finish, and how long it takes."""
    values = {"duration": duration_text(plan.duration_days)}
    message_id = "html.fact.duration"
    if plan.duration_p90_days is not None:
        message_id = "html.fact.duration-p90"
        values["late"] = duration_text(plan.duration_p90_days)
    note = sentence(message_id, **values)
    return Row(sentence("html.fact.finish"), day_text(plan.finish), note=note)


def plan_charts(
    plan: Plan, sections: Mapping[str, Section | Grid]
) -> tuple[Block, ...]:
    """Return what a plan costs, takes and needs, and its layout, drawn."""
    parts = {id_: part for id_, part in sections.items() if isinstance(part, Section)}
    cost, time = parts["section.cost"], parts["section.duration"]
    return (
        share_chart(cost, _sizes(plan.cost_parts_usd), format_usd(plan.cost_usd)),
        share_chart(
            time, _sizes(plan.duration_parts_days), duration_text(plan.duration_days)
        ),
        memory_chart(parts["section.memory"], plan.memory_gib),
        step_chart(parts["section.step"], plan),
        drawing(plan),
    )


def _sizes(parts: Mapping[str, float]) -> list[float]:
    """Return the parts that a section has a row of."""
    return [size for size in parts.values() if size]


def _more(
    plan: Plan,
    sections: Mapping[str, Section | Grid],
    catalog: Catalog,
    around: Surroundings | None,
) -> Iterable[Block]:
    """Yield the trade-off, the runners-up and other regions."""
    if around is not None and around.frontier.points:
        yield trade_off(around.frontier, plan)
    if "section.alternatives" in sections:
        yield table_of(sections["section.alternatives"])
    if around is not None:
        yield from places(around.regions, catalog.regions, plan)


def trade_off(frontier: Frontier, plan: Plan | None, *, wide: bool = False) -> Chart:
    """Return the frontier of cost and time with the plan on it."""
    title = sentence("html.frontier")
    proved = "" if frontier.status == "optimal" else ".open"
    text = sentence(f"html.frontier.text{proved}", points=len(frontier.points))
    called = sentence("html.this-plan")
    svg = frontier_chart("chart-frontier", title, text, frontier, plan, called)
    table = table_of(pareto_page(frontier, WIDE, len(frontier.points)).parts[0])
    return Chart("frontier", title, svg, (table,), text, wide=wide)


def _explained(parts: Iterable[Section | Grid]) -> tuple[Block, ...]:
    """Return why there is no plan, and what would open one."""
    return blocks_of(part for part in parts if part.id not in _LAST)


def _ordered(parts: Iterable[Section | Grid], explained: bool) -> Iterable[Block]:
    """Yield what is left for the engineer: hardware and host, proof and sources."""
    kept = [
        part
        for part in parts
        if part.id not in ("section.warnings", "section.alternatives")
        and not part.id.startswith(("section.phases", "section.leases"))
        and part.id != "section.moves"
    ]
    if not explained:
        yield from (block_of(part) for part in kept if part.id not in _LAST)
    last = {part.id: part for part in kept if part.id in _LAST}
    yield from (block_of(last[id_], wide=True) for id_ in _LAST if id_ in last)


def _warnings(result: PlanResult, page: Page) -> tuple[Block, ...]:
    """Return warnings and, apart from them, what was assumed."""
    if result.plan is None:
        found = (part for part in page.parts if part.id == "section.warnings")
        return tuple(block_of(part, wide=True) for part in found)
    told = result.plan.warnings
    warnings = tuple(m for m in told if not _is_assumption(m))
    assumed = tuple(m for m in told if _is_assumption(m))
    blocks = []
    if warnings:
        blocks.append(message_section("section.warnings", warnings))
    if assumed:
        blocks.append(message_section("html.assumed", assumed))
    return tuple(block_of(section, wide=True) for section in blocks)


def _is_assumption(message: Message) -> bool:
    """Return whether a message tells what was filled in, not what may go wrong."""
    return message.id.startswith("notice.")


def _notices(warnings: Iterable[Block]) -> str:
    """Return how many warnings there are."""
    count = sum(
        len(block.rows)
        for block in warnings
        if isinstance(block, Lines) and block.id == "section-warnings"
    )
    return sentence("html.notices", count=count) if count else ""
