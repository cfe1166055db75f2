"""The English texts of the report on accuracy."""

__all__ = ["ACCURACY"]

ACCURACY = {
    "headline.accuracy": (
        "{rows:,} measurements predicted, {skipped:,} skipped; step time: median error "
        "{median}, mean {mean}"
    ),
    "headline.accuracy.no-times": (
        "{rows:,} measurements predicted, {skipped:,} skipped"
    ),
    "section.accuracy.step_time": "Step time: predicted against measured, per cent",
    "section.accuracy.memory": "Peak memory of a GPU: predicted against measured",
    "section.accuracy.run": "Whole runs, GPU-hours: best layout against what was used",
    "section.accuracy.fits": "Fits in memory: predicted against what happened",
    "section.accuracy.coverage": (
        "Measured step times below the predicted 90th percentile"
    ),
    "section.accuracy.reached": (
        "Share of the predicted speed that whole runs reached: quartiles"
    ),
    "section.accuracy.regret": "Regret: how much slower the layout is that we'd pick",
    "section.accuracy.worst": "Largest misses",
    "section.accuracy.skipped": "Skipped",
    "line.accuracy.skipped": "skipped {row}: {reason}",
    "section.accuracy.assumed": "Taken where the tables do not say",
    "column.field": "field",
    "column.taken": "taken",
    "section.accuracy.unread": "Columns that are not read",
    "column.column": "column",
    "column.meant": "did you mean",
    "column.file": "of",
    "column.examples": "for instance",
    "plot.band": "within {share:.0%}",
    "column.by": "by",
    "column.group": "group",
    "column.n": "n",
    "column.mape": "mean",
    "column.median": "median",
    "column.bias": "bias",
    "column.p90": "p90",
    "column.gpu": "GPU",
    "column.below": "below",
    "column.above": "p90 over predicted",
    "column.low": "lower",
    "column.high": "upper",
    "column.rows": "rows",
    "column.happened": "happened",
    "column.fits": "fits",
    "column.tight": "tight",
    "column.impossible": "impossible",
    "column.groups": "groups",
    "column.worst": "worst",
    "column.best-picked": "best picked",
    "column.id": "id",
    "column.metric": "metric",
    "column.measured": "measured",
    "column.predicted": "predicted",
    "column.error": "error",
    "column.parts": "largest parts",
    "column.count": "rows",
    "column.reason": "reason",
    "happened.ran": "ran",
    "happened.out_of_memory": "out of memory",
    "regret.compute_bound": "compute-bound",
    "regret.launch_bound": "launch-bound",
    "regret.nanotron": "nanotron",
    "metric.step_time": "step time",
    "metric.memory": "memory",
    "metric.run": "run",
}
"""Message id to format string."""
