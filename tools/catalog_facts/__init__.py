"""The conversion of gathered facts into the project's own catalog, part by part."""
