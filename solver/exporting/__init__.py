"""Files that run a plan: what a framework and a launcher are given."""
