"""Answers as rows, tables and JSON; nothing here prints or computes."""
