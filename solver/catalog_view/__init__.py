"""The catalog as its reader looks at it: lists, single entries, and what is wrong."""
