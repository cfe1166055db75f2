"""How a plan's layers lie in the chunks of its pipeline."""

from __future__ import annotations

from solver.plan import LayoutPlan

__all__ = ["chunks", "is_even"]


def is_even(layout: LayoutPlan) -> bool:
    """Return whether every chunk of every stage has as many layers."""
    return len(set(chunks(layout))) == 1


def chunks(layout: LayoutPlan) -> tuple[int, ...]:
    """Return the layers of each chunk in the order of the model; pp x v numbers.

    Notes
    -----
    With ``v`` virtual stages chunk ``i`` lies on stage ``i % pp``. A stage that has
    fewer layers than the others is an end: the first chunk of the first stage and the
    last of the last are the shorter ones, as `performance.stages.divides_with_ends` has
    it.
    """
    pp, virtual = layout.pp, layout.virtual_stages
    whole = [-(-layers // virtual) for layers in layout.layers_per_stage]
    held = [whole[number % pp] for number in range(pp * virtual)]
    missing = [
        w * virtual - n for w, n in zip(whole, layout.layers_per_stage, strict=True)
    ]
    for stage, layers in enumerate(missing):
        last = stage == pp - 1 and pp > 1
        held[pp * (virtual - 1) + stage if last else stage] -= layers
    return tuple(held)
