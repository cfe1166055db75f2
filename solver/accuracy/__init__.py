"""Predictions held against published (or one's own) measurements."""
