"""The JSON spellings of `decided`: a question, a question with its answer, or each part by name."""

from __future__ import annotations

from typing import cast

from flowengine.errors import GuardError, did_you_mean

_BOUNDS = ("at_least", "at_most")
_PARTS = ("id", "answer", *_BOUNDS)
_FORMS = (
    'write {"decided": "agrees"} for yes, or a question with its answer: {"agrees": false}, '
    '{"wish": "refill"}, {"anger": {"at_least": 3}}'
)


def parts_of_decided(body: object) -> dict[str, object]:
    """The parts by name; a question that has the name of a part is spelled `{"id": question}`."""
    if isinstance(body, str):
        return {"id": body}
    given = cast("dict[object, object]", body) if isinstance(body, dict) else {}
    if isinstance(given.get("id"), str):
        return _named(given, _PARTS)
    question, answer = next(iter(given.items()), (None, None))
    if len(given) != 1 or not isinstance(question, str) or question in _PARTS:
        raise GuardError(f"decided asks for one question; {_FORMS}")
    if isinstance(answer, bool | str):
        return {"id": question, "answer": answer}
    if not isinstance(answer, dict) or not answer:
        raise GuardError(f"decided cannot expect that of {question!r}; {_FORMS}")
    return {"id": question, **_named(cast("dict[object, object]", answer), _BOUNDS)}


def _named(given: dict[object, object], known: tuple[str, ...]) -> dict[str, object]:
    for name, value in given.items():
        if name not in known:
            guess = did_you_mean(str(name), known)
            raise GuardError(f"decided has no {name!r}; {_FORMS}.{guess}")
        if value is None:
            raise GuardError(f"decided expects something of {name!r}, not null; {_FORMS}")
    return cast("dict[str, object]", given)
