"""Price lists and model files of other tools as entries of a catalog folder."""
