"""What the refill flow asks of the pharmacy: one patient with two prescriptions."""

from __future__ import annotations

from typing import Any

from flowengine import Functions

functions = Functions()

PATIENT = ("rosa keller", "1972-11-05")
PRESCRIPTIONS = {
    "RX-1001": {"medication": "Lisinopril 10 mg", "refills": 2},
    "RX-1002": {"medication": "Atorvastatin 20 mg", "refills": 0},
}


@functions.tool
def verify_patient(patient_name: str, date_of_birth: str) -> dict[str, bool]:
    return {"verified": (patient_name.lower(), date_of_birth) == PATIENT}


@functions.tool
def list_prescriptions() -> list[dict[str, str]]:
    return [{"id": id, "medication": str(p["medication"])} for id, p in PRESCRIPTIONS.items()]


@functions.tool
def check_refills(prescription_id: str) -> dict[str, Any]:
    refills = PRESCRIPTIONS[prescription_id]["refills"]
    return {"prescription_id": prescription_id, "refillable": refills != 0}


@functions.tool
def submit_refill(prescription_id: str) -> dict[str, str]:
    return {"reference": f"REFILL-{prescription_id}"}


@functions.tool
def request_pharmacist_callback(reason: str = "no_refills_left") -> dict[str, str]:
    return {"reference": "CALLBACK-1", "reason": reason}
