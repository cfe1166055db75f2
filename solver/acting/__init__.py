"""What is done with a plan once it is there: read, hold against reality, act on it."""
