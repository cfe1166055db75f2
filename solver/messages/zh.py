"""The Chinese (Simplified) texts; `solver.messages` says how they are used."""

__all__ = ["MESSAGES"]

MESSAGES: dict[str, str] = {}
"""Message id to format string."""
