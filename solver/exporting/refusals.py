"""What a format cannot say, collected so that all of it is told at once."""

from __future__ import annotations

from solver.errors import InputError, Issue

__all__ = ["NotExpressibleError", "Refusals"]


class NotExpressibleError(InputError):
    """A plan that a format cannot say; its issues are the reasons."""


class Refusals:
    """Reasons why a format cannot say a plan.

    Parameters
    ----------
    tool
        Whose files they are, as its makers write it: Megatron-LM.
    """

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._reasons: dict[str, None] = {}

    def add(self, reason: str, *, where: bool = True) -> None:
        """Note a reason, a sentence that starts with what the tool has or lacks.

        Parameters
        ----------
        reason
            ``has no ...``, ``takes ... alone``: the tool's name is put before it.
        where
            Whether it holds; a reason that does not is left out.
        """
        if where:
            self._reasons[f"{self._tool} {reason}"] = None

    def check(self) -> None:
        """Refuse the plan if there is a reason.

        Raises
        ------
        NotExpressibleError
            With all of them.
        """
        if self._reasons:
            raise NotExpressibleError(
                [Issue("not-expressible", reason) for reason in self._reasons]
            )
