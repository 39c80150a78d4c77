"""The command line: a command is parse, call, print. Commands load what they need when they run."""

from flowengine.cli.app import app, main

__all__ = ["app", "main"]
