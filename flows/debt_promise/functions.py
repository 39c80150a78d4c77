"""What the flow asks of the world: one account, found by four digits, and its card."""

from __future__ import annotations

from flowengine import Functions

functions = Functions()

LAST_FOUR, BALANCE = "4417", "412.60"


@functions.tool
def lookup_account(last_four: str) -> dict[str, bool | str]:
    """The balance is told with the match, and with nothing else."""
    if last_four != LAST_FOUR:
        return {"verified": False}
    return {"verified": True, "balance": BALANCE}


@functions.tool
def charge_card(amount: float) -> dict[str, str]:
    return {"confirmation": "C-1", "amount": f"{amount:.2f}"}
