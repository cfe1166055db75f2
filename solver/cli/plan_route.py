"""``gpuplan plan route``: the steps from a plan to a finished run, with dates."""

from __future__ import annotations

from solver.cli.html import HtmlFile, check_html, write_document
from solver.cli.inputs import AsJson, PlanName
from solver.cli.terminal import note, write, write_page

__all__ = ["route"]


def route(plan: PlanName, as_json: AsJson = False, html: HtmlFile = None) -> int:
    """Show the steps from a plan to a finished run, as a checklist with dates.

    What to order and to ask for, when data and nodes are there, what to measure in the
    first hour and when to plan again, checkpoints, milestones, moves, the release.
    PLAN.json is what 'gpuplan solve --json' printed.
    """
    from solver.acting.basis import acting_on_file
    from solver.acting.plan_file import read_plan
    from solver.acting.route import route_of

    check_html(html)
    file = read_plan(plan)
    found = route_of(acting_on_file(file))
    for notice in file.notices:
        note(notice.text)
    if html is not None:
        from solver.report.html_route import route_document

        digest = str(file.data["request"]["catalog"]["digest"])
        write_document(html, route_document(found, file.scenario.name, digest))
    if as_json:
        from solver.report.as_json import object_as_json

        write(object_as_json("route", found.as_dict()))
    else:
        from solver.report.route_rows import route_page

        write_page(route_page(found))
    return 0
