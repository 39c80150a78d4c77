"""money: amounts with their currency, exact to the cent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.numbers import Number
from flowengine.extract.recognizers.text import Utterance

_HEDGED, _LED, _DOUBTFUL = 0.8, 0.85, 0.7
_CENT = Decimal("0.01")
_PAIRS = ("money.pair", "bare.pair")


@dataclass(slots=True)
class _Amount:
    """An amount said at tokens `first` up to `last`; `other` is a second reading of the words."""

    first: int
    last: int
    rule: str
    value: Decimal
    currency: str
    other: Decimal | None = None
    approximate: bool = False


@dataclass(frozen=True, kw_only=True)
class MoneyRecognizer(Recognizer):
    """Amounts of money as Decimal: "a dollar twenty", "twelve hundred fifty bucks", "half of it".

    A bare number counts when the question was about money. `full` (else the current value) and
    `minimum` are what "half of it", "the full amount" and "the minimum" are measured by.
    """

    kind: ClassVar[str] = "money"
    currency: str | None = None
    full: Any = None
    minimum: Any = None
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        for name in ("full", "minimum"):
            given = getattr(self, name)
            if given is not None and _decimal(given) is None:
                raise RecognizerError(f"money: {name} is an amount, not {given!r}.")

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        locale = said.locale
        bare = context.focus or said.marks.corrections or said.marks.new_values
        needed = locale.money_classes if not bare else locale.amount_classes
        if not said.lexemes.mask & needed:
            return []
        lists = ("money", "money_bare") if bare else ("money",)
        amounts: list[_Amount] = []
        for match in said.matches(*lists):
            amount = self._amount(match, said, context)
            if amount and self._accepts(amount) and self._counts(amount, amounts, said, context):
                amounts.append(amount)
        return [
            self._recognition(amount, earlier, said)
            for amount, earlier in standing(amounts, said.marks)
        ]

    def _counts(
        self, amount: _Amount, before: Sequence[_Amount], said: Utterance, context: Context
    ) -> bool:
        if not amount.rule.startswith("bare."):
            return True
        if context.focus:
            return True
        return bool(before) and said.marks.corrected(before[-1].last, amount.first)

    def _accepts(self, amount: _Amount) -> bool:
        return (self.min is None or amount.value >= Decimal(str(self.min))) and (
            self.max is None or amount.value <= Decimal(str(self.max))
        )

    def _amount(self, match: Match, said: Utterance, context: Context) -> _Amount | None:
        first, last = match.tokens
        value, other = self._value(match, said, context)
        cents = match.number("cents")
        if match.rule in _PAIRS and cents and said.marks.negated(first):
            first, value, other = cents.first, Decimal(cents.value), None  # "not fifty forty"
        if value is None:
            return None
        main = match.number("amount")
        approximate = main is not None and main.approximate
        currency = self._currency(match, said)
        return _Amount(first, last, match.rule, value, currency, other, approximate)

    def _value(
        self, match: Match, said: Utterance, context: Context
    ) -> tuple[Decimal | None, Decimal | None]:
        """The amount and, where the words have a second reading, the other one."""
        name = match.rule.partition(".")[2]
        if name in ("relative", "whole", "minimum", "percent"):
            return self._relative(match, said, context, name), None
        cents = Decimal(match.value("cents")) * _CENT
        if name == "minor":
            return cents, None
        if name == "fraction":
            return Decimal("0.5"), None
        amount = Decimal(match.value("amount", 1))
        if name == "half":
            return amount + Decimal("0.5"), None
        if name == "note":
            return amount * int(said.locale.value("note", match.word("note"))), None
        if name == "thousands":
            return amount * int(said.locale.value("thousands", match.word("thousands"))), None
        if name == "pair":
            return _pair(match.value("amount"), match.number("cents"))
        if name == "triple":  # "three forty two eighteen"
            amount += Decimal(match.value("hundreds")) * 100
        return amount + cents, None

    def _currency(self, match: Match, said: Utterance) -> str:
        locale = said.locale
        if "nation" in match:
            return locale.value("nation", match.word("nation"))
        for slot in ("currency", "symbol"):
            if slot in match:
                return self._local(locale.value(slot, match.word(slot)), said)
        return self.currency or locale.region["currency"]

    def _local(self, code: str, said: Utterance) -> str:
        """A dollar is the region's own where the region has one."""
        home = self.currency or said.locale.region["currency"]
        return home if code == "USD" and home.endswith("D") else code

    def _relative(
        self, match: Match, said: Utterance, context: Context, name: str
    ) -> Decimal | None:
        if name == "minimum":
            return _decimal(self.minimum)
        base = _decimal(self.full if self.full is not None else context.current)
        if base is None or name == "whole":
            return base
        if name == "percent":
            return (base * Decimal(match.value("percents")) / 100).quantize(_CENT)
        share = said.locale.value("share", match.word("share")) if "share" in match else "50"
        return (base * Decimal(share) / 100).quantize(_CENT)

    def _recognition(
        self, amount: _Amount, earlier: Sequence[_Amount], said: Utterance
    ) -> Recognition:
        marks = said.marks
        confidence = _HEDGED if marks.hedged() else 1.0
        if amount.rule.startswith(("money.led", "money.relative", "bare.")):
            confidence *= _LED
        if amount.other is not None:
            confidence *= _DOUBTFUL
        value = _to_the_cent(amount.value)
        return Recognition(
            value=value,
            text=str(value),
            span=said.span(amount.first, amount.last),
            confidence=round(confidence, 3),
            rule=amount.rule,
            alternatives=() if amount.other is None else (_to_the_cent(amount.other),),
            superseded=tuple(_to_the_cent(one.value) for one in earlier),
            ambiguous=amount.other is not None,
            approximate=amount.approximate or marks.approximate(amount.first, amount.last),
            bound=marks.bound(amount.first),
            unit=amount.currency,
        )


def _pair(major: Any, cents: Number | None) -> tuple[Decimal, Decimal | None]:
    """ "thirty five fifty" is 35.50; "three fifty" may also be 350, "one oh five" 1.05."""
    minor = Decimal(cents.value if cents else 0)
    spoken, joined = Decimal(major) + minor * _CENT, Decimal(major) * 100 + minor
    if major >= 10:
        return spoken, None
    return (joined, spoken) if minor < 10 else (spoken, joined)


def _to_the_cent(value: Decimal) -> Decimal:
    if value == value.to_integral_value():
        return Decimal(int(value))
    cents = value.quantize(_CENT)
    return cents if cents == value else value.normalize()


def _decimal(value: Any) -> Decimal | None:
    try:
        return None if value is None or isinstance(value, bool) else Decimal(str(value))
    except InvalidOperation:
        return None
