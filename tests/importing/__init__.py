"""Tests of `solver.importing`."""
