"""What private keys have held, so that it stays hidden: where it was said, and what it was.

Places go with the turns that the transcript keeps. Values that a key no longer holds are kept up to
a bound; past it nothing can be told apart any more, and all words are hidden.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flowengine.facts import MASK, KeyWritten
from flowengine.inputs import Json
from flowengine.state.evidence import Evidence

if TYPE_CHECKING:
    from flowengine.kernel.snapshot import Private
    from flowengine.kernel.work import Work

VALUES, CHARACTERS = 64, 4096
"""As much as is kept of what private keys have held."""
DISTINCT = 4
"""Characters from which a value is found inside another one."""


def note_private(work: Work, key: str, old: Json, evidence: Evidence) -> None:
    """A private key was written: keep where its value was said, and the value that it had."""
    private = work.wait.private
    if not private.whole:
        if evidence.span is not None:
            turns = work.transcript.turns
            oldest = turns[0].number if turns else 0
            private = _placed(private, (evidence.turn, *evidence.span), oldest)
        if old is not None and not work.keys.spec(key).repeats:
            private = _kept(private, key, old)
        if private is not work.wait.private:
            work.wait = work.wait._replace(private=private)


def shown(work: Work, value: Json) -> Json:
    """A value as facts tell it: masked if it repeats what a private key holds or has held."""
    if value is None or isinstance(value, bool):
        return value
    texts = [str(leaf).casefold() for leaf in leaves(value)]
    if work.wait.private.whole:
        return MASK if texts else value
    secrets = (secret for one in _secrets(work) if (secret := _distinct(one)) is not None)
    return MASK if any(_repeats(text, secret) for secret in secrets for text in texts) else value


def veil(work: Work) -> None:
    """Mask also what was told in this step before a private key came to hold the same."""
    facts = work.facts
    if not any(isinstance(fact, KeyWritten) and fact.new == MASK for fact in facts):
        return
    for at, fact in enumerate(facts):
        if isinstance(fact, KeyWritten):
            facts[at] = fact._replace(old=shown(work, fact.old), new=shown(work, fact.new))


def hidden(work: Work) -> list[str]:
    """The keys whose values are not told."""
    keys = [key for key, spec in work.keys.declared().items() if spec.pii]
    if work.keys.private:
        keys += [key for key, value in work.values.items() if shown(work, value) == MASK]
    return keys


def leaves(value: Json) -> Iterator[str | int | float]:
    """Texts and numbers, however deep."""
    if isinstance(value, dict):
        for child in value.values():
            yield from leaves(child)
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def _placed(private: Private, place: tuple[int, int, int], oldest: int) -> Private:
    if place in private.places:
        return private
    kept = (other for other in private.places if other[0] >= oldest)
    return private._replace(places=(*kept, place))


def _kept(private: Private, key: str, old: Json) -> Private:
    fresh = {(key, leaf) for leaf in leaves(old)}.difference(private.values)
    if not fresh:
        return private
    values = (*private.values, *((key, leaf) for leaf in leaves(old) if (key, leaf) in fresh))
    size = sum(len(str(value)) for _, value in values)
    if len(values) > VALUES or size > CHARACTERS:
        return private._replace(places=(), values=(), whole=True)
    return private._replace(values=values)


def _secrets(work: Work) -> Iterator[str | int | float]:
    for key in work.keys.private:
        for name in work.keys.names[key]:
            yield from leaves(work.values.get(name))
    for _, value in work.wait.private.values:
        yield value


def _distinct(secret: str | float) -> str | None:
    """The text of a secret; None for a small number, which many values are."""
    text = str(secret).casefold().strip()
    is_plain = not text or (not isinstance(secret, str) and len(text) < DISTINCT)
    return None if is_plain else text


def _repeats(text: str, secret: str) -> bool:
    return secret in text if len(secret) >= DISTINCT else secret == text
