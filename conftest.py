"""pytest's own fixture for testing plugins; it may only be asked for at the root."""

pytest_plugins = ["pytester"]
