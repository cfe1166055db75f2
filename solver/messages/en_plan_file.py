"""The English texts of what is done with a plan that was written to a file."""

__all__ = ["PLAN_FILE"]

PLAN_FILE = {
    "notice.plan.version": (
        "The plan was made by gpuplan {made}, and this is {now}: figures may differ."
    ),
    "notice.plan.catalog": (
        "The catalog has changed since the plan was made: prices, stock and figures of "
        "hardware may differ."
    ),
}
