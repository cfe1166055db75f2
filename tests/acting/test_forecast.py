"""Tests that finish and bill follow from what was measured as the plan's own do."""

import math
from itertools import pairwise
from typing import Any

import pytest

from solver.acting.basis import Acting
from solver.acting.forecast import (
    Forecast,
    Outlook,
    Reality,
    forecast_of,
    outlook,
    stopped_usd,
)
from tests.acting.test_route import acting_on, chain, far, shared
from tests.planning.jobs import A100, job


def planned(acting: Acting) -> Outlook:
    """What the plan itself comes to."""
    return outlook(acting, acting.figures)


def seen(
    acting: Acting,
    reality: Reality,
    left: float = 1.0,
    spent_s: float = 0.0,
    place: int = 0,
) -> Outlook:
    """What a run comes to as measured."""
    return outlook(acting, forecast_of(acting, place, reality, left, spent_s))


def term() -> Acting:
    """Whole hours of a node, at least ten days of them."""
    return acting_on(job([A100 | {"min_term": "10 days"}]))


@pytest.mark.parametrize("make", [far, shared, chain, term])
def test_as_predicted_nothing_changes(make: Any) -> None:
    """Tests that measured equal to predicted is the plan, to the cent and the day."""
    acting = make()
    assert seen(acting, Reality()) == planned(acting)


@pytest.mark.parametrize("make", [far, shared, chain, term])
def test_a_slower_step_never_ends_sooner_nor_costs_less(make: Any) -> None:
    """Tests finish and bill over a range of paces, with terms and failures."""
    acting = make()
    found = [seen(acting, Reality(pace=p)) for p in (0.5, 0.9, 1.0, 1.01, 1.5, 3.0)]
    for less, more in pairwise(found):
        assert less.duration_days < more.duration_days
        assert less.duration_p90_days < more.duration_p90_days
        assert less.cost_usd <= more.cost_usd + 1e-9


def test_a_term_pays_for_a_slower_run() -> None:
    """Tests that time within a term that is paid anyway costs nothing more."""
    acting = term()
    plain, slow = planned(acting), seen(acting, Reality(pace=1.3))
    assert plain.duration_days < slow.duration_days < 9
    assert slow.cost_usd == pytest.approx(plain.cost_usd)
    rent = acting.jobs[0].plan.rented_nodes * 16.0 * 240
    assert plain.cost_usd == pytest.approx(rent)


def test_a_run_by_hand() -> None:
    """Tests pace, progress and time behind without failures: simple sums."""
    acting = acting_on(job([A100], failures={"gpu_mtbf": "1000000 hours"}))
    figures, plan = acting.figures[0], acting.jobs[0].plan
    whole = figures.active_s
    half = seen(acting, Reality(pace=2.0), 0.5, whole / 2)
    fixed = plan.duration_days - whole / 86_400
    expected = fixed + (0.5 * whole + 0.5 * 2 * whole) / 86_400
    assert half.duration_days == pytest.approx(expected, rel=2e-3)
    hours = (figures.paid_fixed_s + 1.5 * whole) / 3600
    assert half.cost_usd == pytest.approx(plan.rented_nodes * 16.0 * hours, rel=2e-3)


def test_only_the_rest_is_uncertain() -> None:
    """Tests that the interval shrinks as the run goes on, to nothing at its end."""
    acting = shared()
    whole = acting.figures[0].active_s
    widths = []
    for left in (1.0, 0.5, 0.1):
        found = seen(acting, Reality(), left, whole * (1 - left))
        widths.append(found.duration_p90_days - found.duration_days)
    assert widths[0] > widths[1] > widths[2] > 0
    ended = seen(acting, Reality(), 0.0, whole)
    assert ended.duration_p90_days == pytest.approx(ended.duration_days)
    assert ended.duration_days == pytest.approx(planned(acting).duration_days)


def test_failures_checkpoints_and_reading_count() -> None:
    """Tests that each measured figure moves the finish the way that it should."""
    acting = shared()
    now = planned(acting).duration_days
    rate = acting.figures[0].failures_per_s
    assert seen(acting, Reality(checkpoint_s=600.0)).duration_days > now
    assert seen(acting, Reality(failures_per_s=100 * rate)).duration_days > now
    assert seen(acting, Reality(failures_per_s=rate / 100)).duration_days < now
    slow = seen(acting, Reality(read_bytes_per_s=1e5)).duration_days
    days = 5e9 * 4 / 1e5 / 86_400  # five billion tokens of four bytes
    assert slow > days > now
    stalled = seen(acting, Reality(stall_s_a_step=0.1)).duration_days
    steps = acting.jobs[0].plan.steps
    assert stalled - now == pytest.approx(0.1 * steps / 86_400, rel=0.05)


def test_giving_the_nodes_back_pays_what_was_begun() -> None:
    """Tests the bill of a run that stops: by the second, and with a term."""
    plain = acting_on(job([A100]))
    figures = plain.figures[0]
    known = forecast_of(plain, 0, Reality(), 0.5, 7200.0)
    hours = figures.paid_fixed_s / 3600 + 2
    rent = plain.jobs[0].plan.rented_nodes * 16.0
    assert stopped_usd(plain, known, 0) == pytest.approx(rent * hours)
    bound = term()
    known = forecast_of(bound, 0, Reality(), 0.5, 7200.0)
    nodes = bound.jobs[0].plan.rented_nodes
    assert stopped_usd(bound, known, 0) == pytest.approx(nodes * 16.0 * 240)


def test_phases_that_are_over_are_certain() -> None:
    """Tests that of a chain the phase measured and later ones change alone."""
    acting = chain()
    known = forecast_of(acting, 1, Reality(pace=2.0), 1.0, 0.0)
    first, second = known
    assert first.active_s == pytest.approx(acting.figures[0].active_s)
    assert first.late_factor(0.9) == 1.0
    assert second.training_s == 2.0 * acting.figures[1].training_s
    found, plan = outlook(acting, known), planned(acting)
    later = second.active_s - acting.figures[1].active_s
    assert found.duration_days - plan.duration_days == pytest.approx(later / 86_400)
    early = forecast_of(acting, 0, Reality(pace=2.0), 1.0, 0.0)
    assert early[1].training_s == second.training_s
    assert stopped_usd(acting, known, 1) < found.cost_usd


def test_a_forecast_keeps_the_spread_of_the_plan() -> None:
    """Tests that a slow run does not change how sure the plan was."""
    figures = far().figures[0]
    slow = Forecast(figures.evidence, Reality(pace=9.0))
    assert slow.sigma == figures.sigma
    factor = math.exp(1.2815515655446004 * figures.sigma)
    assert slow.late_factor(0.9) == pytest.approx(factor)
