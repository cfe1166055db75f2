"""How far a run is: steps, tokens and training time, also while the batch grows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solver.verify.figures import Figures

__all__ = ["Done", "Progress"]


@dataclass(frozen=True, slots=True)
class Done:
    """What has been trained by some step."""

    steps: int
    tokens: float
    """Computed tokens, padding included; at most those of the run."""
    time_share: float
    """Part of the training time that these steps take."""


@dataclass(frozen=True)
class Progress:
    """The steps of a run in their order."""

    figures: Figures

    @property
    def tokens(self) -> float:
        """Tokens of the whole run."""
        return self.figures.evidence.scenario.workload.tokens

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self.figures.steps

    def of_steps(self, steps: int) -> Done:
        """What the first ``steps`` steps come to."""
        left, tokens, seconds = steps, 0.0, 0.0
        for count, each_tokens, each_s in self._stretches:
            taken = min(left, count)
            tokens += taken * each_tokens
            seconds += taken * each_s
            left -= taken
        share = seconds / self.figures.training_s
        return Done(steps, min(tokens, self.tokens), min(share, 1.0))

    def of_tokens(self, tokens: float) -> Done:
        """What the steps come to after which at least so many tokens were seen."""
        steps, seen = 0, 0.0
        for count, each_tokens, _ in self._stretches:
            if seen + count * each_tokens >= tokens:
                steps += math.ceil((tokens - seen) / each_tokens - 1e-9)
                break
            steps += count
            seen += count * each_tokens
        return self.of_steps(steps)

    def of_time(self, share: float) -> Done:
        """What is done after a part of the training time, whole steps alone."""
        left, steps = share * self.figures.training_s, 0
        for count, _, each_s in self._stretches:
            taken = min(count, math.floor(left / each_s + 1e-9))
            steps += taken
            left -= taken * each_s
            if taken < count:
                break
        return self.of_steps(steps)

    @cached_property
    def _stretches(self) -> tuple[tuple[int, float, float], ...]:
        """Runs of equal steps: how many, and tokens and seconds of each."""
        return tuple(s for s in self._all_stretches() if s[0])

    def _all_stretches(self) -> Iterator[tuple[int, float, float]]:
        figures, climb = self.figures, self.figures.climb
        length = figures.evidence.scenario.workload.sequence_length
        timed = zip(climb.rungs, climb.rung_seconds, strict=True)
        for (batch, steps), seconds in timed:
            yield steps, batch * length, seconds / steps if steps else 0.0
        whole = figures.steps - climb.steps
        yield whole, figures.tokens_per_step, figures.step_time_s
