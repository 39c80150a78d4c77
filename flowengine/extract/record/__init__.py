"""Records: typed fields that recognizers fill from the caller's words, in YAML and in Python."""
