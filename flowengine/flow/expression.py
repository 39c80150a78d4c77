"""Arithmetic and logic of computed keys as data: a closed vocabulary, strict about numbers.

`{mul: [{key: price}, {key: quantity}]}`. Numbers are strict: a missing or non-numeric operand
gives no value, and so does division by zero. Logic is total: what is missing is false. With a
Decimal among them numbers are calculated as decimals, so that money never becomes a float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from pydantic import Field, model_validator

from flowengine.data import Data
from flowengine.flow.text import shown
from flowengine.inputs import Json
from flowengine.state.types import json_form, same

Read: TypeAlias = Callable[[str], Json | Decimal]
"""Looks a key up; None when it holds nothing, a Decimal where the key is declared as one."""

Number: TypeAlias = int | float | Decimal


class IfThen(Data):
    when: Operand
    then: Operand
    else_: Operand = Field(default=None, alias="else")


class Expression(Data):
    """Exactly one operation over operands: literals, `{key: name}`, or further expressions."""

    key: str | None = None
    const: Json = None
    add: tuple[Operand, ...] | None = None
    mul: tuple[Operand, ...] | None = None
    sub: tuple[Operand, Operand] | None = None
    div: tuple[Operand, Operand] | None = None
    min: tuple[Operand, ...] | None = None
    max: tuple[Operand, ...] | None = None
    eq: tuple[Operand, Operand] | None = None
    gt: tuple[Operand, Operand] | None = None
    gte: tuple[Operand, Operand] | None = None
    lt: tuple[Operand, Operand] | None = None
    lte: tuple[Operand, Operand] | None = None
    all: tuple[Operand, ...] | None = None
    any: tuple[Operand, ...] | None = None
    not_: Operand = Field(default=None, alias="not")
    if_: IfThen | None = Field(default=None, alias="if")
    coalesce: tuple[Operand, ...] | None = None
    concat: tuple[Operand, ...] | None = None
    count_true: tuple[Operand, ...] | None = None

    @model_validator(mode="after")
    def _is_one_operation(self) -> Expression:
        if len(self.model_fields_set) != 1:
            raise ValueError("an expression has exactly one operation")
        if self.operation not in ("const", "not_") and getattr(self, self.operation) is None:
            raise ValueError(f"`{self.operation.rstrip('_')}` needs something to work on")
        return self

    @property
    def operation(self) -> str:
        return next(iter(self.model_fields_set))

    def reads(self) -> Iterator[str]:
        """Every key it looks up, in the order written."""
        if self.key is not None:
            yield self.key
            return
        for operand in _operands(getattr(self, self.operation)):
            if isinstance(operand, Expression):
                yield from operand.reads()

    def evaluate(self, read: Read) -> Json | Decimal:
        """Its value, or None where a strict operation has none."""
        operand = getattr(self, self.operation)
        return _OPERATIONS[self.operation](operand, read)


Operand = Expression | bool | int | float | str | None
IfThen.model_rebuild()
Expression.model_rebuild()


def _operands(value: Any) -> tuple[Any, ...]:
    if isinstance(value, IfThen):
        return (value.when, value.then, value.else_)
    return value if isinstance(value, tuple) else (value,)  # pyright: ignore[reportUnknownVariableType]


def _value(operand: Any, read: Read) -> Any:
    return operand.evaluate(read) if isinstance(operand, Expression) else operand


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _numbers(operands: Any, read: Read) -> list[Any] | None:
    values = [_value(operand, read) for operand in operands]
    if not values or not all(map(_is_number, values)):
        return None
    if any(isinstance(value, Decimal) for value in values):
        return [Decimal(str(value)) for value in values]
    return values


def _is_endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _whole(number: Number) -> Number | None:
    """A whole float as an integer; what is not finite is no value."""
    if not isinstance(number, float):
        return number
    return (int(number) if number.is_integer() else number) if math.isfinite(number) else None


def _arithmetic(work: Callable[[list[Any]], Number | None]) -> Any:
    def evaluate(operands: Any, read: Read) -> Json | Decimal:
        numbers = _numbers(operands, read)
        try:
            result = None if numbers is None else work(numbers)
        except ArithmeticError:  # too great for a float or a Decimal
            return None
        return None if result is None else _whole(result)

    return evaluate


def _comparison(work: Callable[[list[Any]], bool]) -> Any:
    def evaluate(operands: Any, read: Read) -> Json:
        numbers = _numbers(operands, read)
        return None if numbers is None else work(numbers)

    return evaluate


def _equal(operands: Any, read: Read) -> Json:
    left, right = (_value(operand, read) for operand in operands)
    if left is None or right is None:
        return None
    numbers = _numbers((left, right), read)
    return same(left, right) if numbers is None else numbers[0] == numbers[1]


def _true(operands: Any, read: Read) -> list[bool]:
    return [_value(operand, read) is True for operand in operands]


def _choose(choice: IfThen, read: Read) -> Json | Decimal:
    return _value(choice.then if _value(choice.when, read) is True else choice.else_, read)


def _first(operands: Any, read: Read) -> Json | Decimal:
    values = (_value(operand, read) for operand in operands)
    return next((value for value in values if value is not None), None)


def _text(operands: Any, read: Read) -> Json:
    values = (_value(operand, read) for operand in operands)
    return "".join(shown(json_form(value)) for value in values if not _is_endless(value))


_OPERATIONS: Mapping[str, Callable[[Any, Read], Json | Decimal]] = {
    "key": lambda name, read: read(name),
    "const": lambda value, _: value,
    "add": _arithmetic(sum),
    "mul": _arithmetic(math.prod),
    "sub": _arithmetic(lambda n: n[0] - n[1]),
    "div": _arithmetic(lambda n: n[0] / n[1] if n[1] else None),
    "min": _arithmetic(min),
    "max": _arithmetic(max),
    "eq": _equal,
    "gt": _comparison(lambda n: n[0] > n[1]),
    "gte": _comparison(lambda n: n[0] >= n[1]),
    "lt": _comparison(lambda n: n[0] < n[1]),
    "lte": _comparison(lambda n: n[0] <= n[1]),
    "all": lambda operands, read: all(_true(operands, read)),
    "any": lambda operands, read: any(_true(operands, read)),
    "not_": lambda operand, read: _value(operand, read) is not True,
    "if_": _choose,
    "coalesce": _first,
    "concat": _text,
    "count_true": lambda operands, read: sum(_true(operands, read)),
}
