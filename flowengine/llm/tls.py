"""One TLS context for all clients: loading the certificates takes longer than everything else."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from ssl import SSLContext


@cache
def tls_context(library: str) -> SSLContext:
    """The context as this HTTP library makes it, certificates of the environment included."""
    return import_module(library).create_ssl_context()
