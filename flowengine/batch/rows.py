"""Files of recorded calls: JSON lines with dialogues or with the inputs of sessions.

A dialogue is one line: `{"id", "ref", "turns": [{"speaker", "text", "alternatives"}]}`. A line may
also hold a whole session in `inputs`, or one piece of a session (see `recorded`). Other names in a
dialogue's line are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from flowengine.batch.calls import Call, Dialogue, Recording, RowError, Unreadable, Utterance
from flowengine.batch.recorded import inputs_from_json
from flowengine.errors import did_you_mean

CALLERS = ("user", "caller", "customer")
MODELS = ("agent", "model", "assistant", "system", "bot")
_DAY = len("2019-03-01")
_OPENING = "T09:00"
"""A call of which only the day is known took place in the morning."""
Row = dict[str, Any]


def read_calls(path: str | Path) -> Iterator[Call]:
    """Every call of a file; one that cannot be read is an `Unreadable`, and the rest goes on.

    Raises:
        RowError: the file itself cannot be read.
    """
    file = Path(path)
    sessions: dict[str, list[tuple[str, Row]]] = {}
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        place = f"{file}:{number}"
        row: Row = {}
        try:
            row = _row(line)
            if _is_piece(row):
                sessions.setdefault(str(row.get("session", file.stem)), []).append((place, row))
            else:
                yield _call(row, _id(row, f"{file.stem}:{number}"), place)
        except RowError as error:
            yield Unreadable(_id(row, place), place, f"{place}: {error}", _labels(row))
    for name, pieces in sessions.items():
        yield _session(name, pieces)


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as stream:
            yield from stream
    except OSError as error:
        why = (error.strerror or "it cannot be read").lower()
        raise RowError(f"{file}: {why}.{_nearby(file)}") from None


def _nearby(file: Path) -> str:
    """A file that may have been meant."""
    if file.exists() or not file.parent.is_dir():
        return ""
    return did_you_mean(file.name, sorted(other.name for other in file.parent.iterdir()))


def _row(line: bytes) -> Row:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise RowError("this line is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise RowError(f"this line is not JSON: {error.msg} at column {error.colno}") from None
    except (RecursionError, ValueError):
        raise RowError("this line is JSON of a depth or size that nobody needs") from None
    if not isinstance(row, dict):
        raise RowError("a call is a JSON object with `turns` or `inputs`")
    return cast("Row", row)


def _is_piece(row: Row) -> bool:
    return any(name in row for name in ("input", "fact", "start"))


def _id(row: Row, otherwise: str) -> str:
    return str(row.get("id") or otherwise)


def _labels(row: Row) -> tuple[str, ...]:
    services = row.get("services")
    return tuple(map(str, cast("list[Any]", services))) if isinstance(services, list) else ()


def _call(row: Row, id: str, place: str) -> Dialogue | Recording:
    if "inputs" in row:
        state, at, phase = _start(row)
        inputs = inputs_from_json(_objects(row, "inputs"))
        facts = tuple(_objects(row, "facts"))
        return Recording(id, place, inputs, at, state, phase, facts, _labels(row))
    turns = _objects(row, "turns")
    said = (_utterance(turn, f"turns[{at}]") for at, turn in enumerate(turns))
    utterances = tuple(one for one in said if one.text)
    if not utterances:
        raise RowError("`turns` is missing or says nothing: a call is a list of turns")
    return Dialogue(id, place, utterances, _ref(row.get("ref")), _labels(row))


# -- dialogues ------------------------------------------------------------------------------------


def _objects(row: Row, name: str) -> list[Row]:
    value = row.get(name, [])
    if not isinstance(value, list):
        raise RowError(f"`{name}` must be a list")
    for at, item in enumerate(cast("list[Any]", value)):
        if not isinstance(item, dict):
            raise RowError(f"`{name}[{at}]` must be an object")
    return cast("list[Row]", value)


def _utterance(turn: Row, where: str) -> Utterance:
    speaker, text = turn.get("speaker"), turn.get("text")
    if speaker not in (*CALLERS, *MODELS):
        known = f"the caller is one of {', '.join(CALLERS)}, the model of {', '.join(MODELS)}"
        guess = did_you_mean(speaker, CALLERS + MODELS) if isinstance(speaker, str) else ""
        what = "is missing" if speaker is None else f"{speaker!r:.40} is not known"
        raise RowError(f"`{where}.speaker` {what}: {known}.{guess}")
    if not isinstance(text, str):
        raise RowError(f"`{where}.text` must be text")
    others = cast("list[Any]", turn.get("alternatives", turn.get("nbest")) or [])
    if type(others) is not list or not all(isinstance(other, str) for other in others):
        raise RowError(f"`{where}.alternatives` must be a list of texts")
    heard = tuple(dict.fromkeys(other for other in others if other != text))
    return Utterance(speaker in CALLERS, text.strip(), heard)


def _ref(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value + _OPENING if len(value) == _DAY else value)
    except (TypeError, ValueError):
        raise RowError("`ref` must be a day or an instant: 2019-03-01, 2019-03-01T10:30") from None


# -- sessions, piece by piece ---------------------------------------------------------------------


def _session(name: str, pieces: list[tuple[str, Row]]) -> Recording | Unreadable:
    place = pieces[0][0]
    start: Row = {}
    found: dict[str, list[Any]] = {"input": [], "fact": []}
    try:
        for where, row in pieces:
            place = where
            if "start" in row:
                start = _piece(row, "start")
            elif "input" in row:
                found["input"] += inputs_from_json([_piece(row, "input")])
            else:
                found["fact"].append(_piece(row, "fact"))
        place = pieces[0][0]
        state, at, phase = _start(start)
    except RowError as error:
        return Unreadable(name, place, f"{place}: {error}")
    return Recording(name, place, tuple(found["input"]), at, state, phase, tuple(found["fact"]))


def _piece(row: Row, name: str) -> Row:
    """The object under the name, or the row itself where the name tells its kind."""
    value = row[name]
    if isinstance(value, str):
        return {key: value for key, value in row.items() if key != "session"}
    if not isinstance(value, dict):
        raise RowError(f"`{name}` must be an object")
    return cast("Row", value)


def _start(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], int | None, str | None]:
    state, at, phase = row.get("state", {}), row.get("at"), row.get("phase")
    if not isinstance(state, dict):
        raise RowError("`state` must be an object")
    if at is not None and (not isinstance(at, int) or isinstance(at, bool)):
        raise RowError("`at` must be milliseconds since the epoch")
    if phase is not None and not isinstance(phase, str):
        raise RowError("`phase` must be the name of a phase")
    return cast("Mapping[str, Any]", state), at, phase
