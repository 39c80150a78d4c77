"""What the debt-collection flow asks of the world: one account, and three small calculations."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from flowengine import Functions

functions = Functions()

CENT = Decimal("0.01")
INTEREST = Decimal("1.05")
ACCOUNTS: dict[str, dict[str, Any]] = {
    "78234561": {
        "name": "Jane Smith",
        "dob": "1984-03-05",
        "last_four": "4417",
        "creditor": "Acme Medical Group",
        "balance": "4250.00",
        "days_past_due": 127,
    }
}


@functions.tool
def verify_identity(name: str, dob: str, last_four: str) -> dict[str, Any]:
    """All three must match one account; the answer does not say which one did not."""
    said = (_plain(name), dob, last_four)
    for number, account in ACCOUNTS.items():
        if said == (_plain(account["name"]), account["dob"], account["last_four"]):
            return {"verified": True, "account_id": number}
    return {"verified": False}


@functions.resolver
def lookup_account(account_id: str) -> dict[str, Any]:
    account = ACCOUNTS[account_id]
    return {key: account[key] for key in ("creditor", "balance", "days_past_due")}


@functions.tool
def calculate_payment_plan(total: float, months: int) -> dict[str, Any]:
    """Equal instalments with 5 % on top; the last one takes up what rounding left."""
    whole = _cents(Decimal(str(total)) * INTEREST)
    each = _cents(whole / months)
    last = whole - each * (months - 1)
    return {"total": str(whole), "instalment": str(each), "last": str(last), "months": months}


@functions.tool
def process_payment(amount: float) -> dict[str, Any]:
    return {
        "status": "processed",
        "amount": str(_cents(Decimal(str(amount)))),
        "confirmation": "P-1",
    }


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
