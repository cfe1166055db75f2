"""Settings for all tests."""

import os

from hypothesis import settings

# tests are made as of one day, so that no shipped price grows old under them
os.environ["GPUPLAN_TODAY"] = "2026-11-30"

# The gate tries the same examples each time and forgives a busy machine.
# To look for new ones: HYPOTHESIS_PROFILE=search make test
settings.register_profile("gate", deadline=None, derandomize=True, database=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))
