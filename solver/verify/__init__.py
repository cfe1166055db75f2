"""The certificate: a plan's promises, each checked again from its decisions alone.

`verify` takes the decisions of a plan (offer, nodes, layout, storage), evaluates the
physics for that one layout and does the rest in plain Python arithmetic that shares no
code with what made the plan. What does not agree is a `Violation`.
"""

from solver.verify.certificate import CHECKS, verify
from solver.verify.violation import Violation

__all__ = ["CHECKS", "Violation", "verify"]
