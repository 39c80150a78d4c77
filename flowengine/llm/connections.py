"""How many connections to a model service are kept open between requests, and for how long."""

from __future__ import annotations

from typing import Any

IDLE_S = 60.0
"""An HTTP library's own five seconds are less than a caller takes to answer: each turn would pay
for a new connection."""
MOST = 100


def limits(http: Any) -> Any:
    """The limits of a client or transport of this HTTP library (httpx or httpx2)."""
    return http.Limits(
        max_connections=MOST, max_keepalive_connections=MOST, keepalive_expiry=IDLE_S
    )
