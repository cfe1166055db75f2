"""The optimisation model: integer columns in, row numbers out.

Only this package imports ortools, and of it only the modules that `problem` pulls
in: `table`, `scaling`, `reduce` and `prune` are plain numpy. Nothing in here reads
files, knows units or handles floats other than in `scaling`.
"""
