"""The catalog: what can be rented, run and trained, each fact with its source."""
