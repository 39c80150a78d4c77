"""Ids of calls that were answered long ago: a digest of each, so that none is taken for new."""

from __future__ import annotations

from base64 import b64encode
from hashlib import blake2b

LIMIT = 4_096
"""Ids that are known; of a conversation with more calls the oldest are forgotten."""
_BYTES = 6
_LENGTH = 1 + _BYTES * 4 // 3


def with_id(used: str, id: str) -> str:
    """The digests, oldest first, and that of one more id."""
    return (used + _digest(id))[-LIMIT * _LENGTH :]


def is_used(used: str, id: str) -> bool:
    """Two ids share a digest once in 10^14; then a new call has to be made again."""
    return bool(used) and _digest(id) in used


def _digest(id: str) -> str:
    """Nine characters; the first marks where it begins."""
    digest = blake2b(id.encode(errors="surrogatepass"), digest_size=_BYTES)
    return f" {b64encode(digest.digest()).decode()}"
