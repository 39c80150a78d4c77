"""Guard text read by recursive descent over an allow-list; it names things, it never runs them.

The parser turns text into the JSON form, piece by piece, and hands each piece to `build`; what
`build` objects to is reported at the piece's place in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Generic, NamedTuple, NoReturn, TypeVar, cast

from flowengine.errors import GuardError, did_you_mean
from flowengine.guards.lexer import Token, tokenize
from flowengine.guards.spelling import RESERVED
from flowengine.guards.words import ATOMS, OPERATORS, TERMS

MAX_DEPTH = 50
"""Deepest nesting of parentheses, `not`, lists and objects."""

BARE_ATOMS = frozenset({"always", "caller_spoke"})
BARE_TERMS = frozenset({"turns_in_phase", "elapsed"})
FUNCTIONS = frozenset({*ATOMS, *TERMS, "decided", "eq", "one_of"})

_CONSTANTS: dict[object, object] = {"true": True, "false": False, "null": None}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_AFTER_GUARD = ("", "and", "or", ")")
_CURES = {
    "=": "equality is written ==", "AND": "write and", "OR": "write or", "NOT": "write not",
    "True": "write true", "False": "write false", "None": "write null", "is": "write ==",
    "not": "write it first: not (x in [1, 2])", ":": "quote a name with spaces or signs in it",
}  # fmt: skip

G = TypeVar("G")


class _Term(NamedTuple):
    """One side of a comparison, in its JSON form."""

    form: object
    start: int


class _Built(NamedTuple, Generic[G]):
    guard: G
    start: int


def parse(text: str, build: Callable[[object], G]) -> G:
    """What the text says, built by `build` from the JSON form of each guard in it.

    Raises:
        GuardError: with the text, the offset and the length of what is wrong, and a cure.
    """
    return _Parser(text, build).whole()


class _Parser(Generic[G]):
    def __init__(self, text: str, build: Callable[[object], G]) -> None:
        self._text = text
        self._build = build
        self._tokens = tokenize(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> G:
        if len(self._tokens) == 1:
            self._fail("a guard says something; write always for one that always holds")
        guard = self._guard(self._or())
        if self._token.kind != "end":
            self._unexpected("and, or, a comparison or the end")
        return guard

    # Grammar, loosest first: or, and, not, comparison, operand.

    def _or(self) -> _Term | _Built[G]:
        return self._joined("or", "any", self._and)

    def _and(self) -> _Term | _Built[G]:
        return self._joined("and", "all", self._not)

    def _joined(
        self, word: str, tag: str, part: Callable[[], _Term | _Built[G]]
    ) -> _Term | _Built[G]:
        first = part()
        if not self._is_word(word):
            return first
        guards = [self._guard(first)]
        while self._take_word(word):
            guards.append(self._guard(part()))
        return self._made({tag: guards}, first.start)

    def _not(self) -> _Term | _Built[G]:
        start = self._token.start
        if not self._take_word("not"):
            return self._comparison()
        with self._nested(start):
            return self._made({"not": self._guard(self._not())}, start)

    def _comparison(self) -> _Term | _Built[G]:
        first = self._operand()
        if not self._at_operator():
            return first
        parts = [self._term(first)]
        while self._at_operator():
            parts.append(self._token.value)
            self._at += 1
            parts.append(self._term(self._operand()))
        return self._made({"compare": parts}, first.start)

    def _at_operator(self) -> bool:
        return self._token.kind in ("word", "symbol") and self._token.value in OPERATORS

    def _operand(self) -> _Term | _Built[G]:
        token = self._token
        if token.kind == "word":
            return self._word(token)
        if token.kind == "name":
            self._at += 1
            return _Term({"key": token.value}, token.start)
        if token[:2] == ("symbol", "("):
            with self._brackets("("):
                inner = self._or()
            return inner._replace(start=token.start)
        return _Term(_literal_form(self._literal()), token.start)

    def _word(self, token: Token) -> _Term | _Built[G]:
        word = str(token.value)
        if self._tokens[self._at + 1][:2] == ("symbol", "("):
            return self._call(word, token.start)
        if word in _CONSTANTS:
            return _Term(self._literal(), token.start)
        self._at += 1
        if word in BARE_ATOMS:
            return self._made({word: True}, token.start)
        if word in BARE_TERMS:
            return _Term({word: True}, token.start)
        if word.startswith("args."):
            return _Term({"arg": word.removeprefix("args.")}, token.start)
        if word in RESERVED:
            self._at -= 1
            self._unexpected("a guard, a key or a value")
        return _Term({"key": word}, token.start)

    # Calls: the name decides what stands between the parentheses.

    def _call(self, name: str, start: int) -> _Term | _Built[G]:
        if name not in FUNCTIONS:
            known = ", ".join(sorted(FUNCTIONS))
            guess = did_you_mean(name, FUNCTIONS) or f" There are {known}."
            self._fail(f"a guard has no function {name!r}.{guess}")
        self._at += 1
        with self._brackets("("):
            if name in TERMS:
                return _Term({name: self._one_name() if TERMS[name] else True}, start)
            form = {name: self._arguments(name)}
        return self._made(form, start)

    def _arguments(self, name: str) -> object:
        if name == "decided":
            return self._decided()
        if name in ("eq", "one_of"):
            values: list[object] = [self._one_name()]
            while self._take_symbol(","):
                values.append(self._literal())
            return values
        if ATOMS[name] is None:
            return True
        return self._names() if name == "captured" else self._one_name()

    def _decided(self) -> object:
        form: dict[str, object] = {"id": self._one_name()}
        while self._take_symbol(","):
            part = self._part_of_decided()
            if part in form:
                self._fail(f"decided takes one {part}")
            is_name = self._token.kind in ("word", "name") and self._token.value not in _CONSTANTS
            form[part] = self._one_name() if is_name else self._literal()
        return form

    def _part_of_decided(self) -> str:
        word, then = self._token, self._tokens[self._at + 1]
        if then[:2] != ("symbol", "="):
            return "answer"
        if word.value not in ("at_least", "at_most"):
            self._fail(f"decided has no {word.value!r}; write at_least or at_most")
        self._at += 2
        return str(word.value)

    def _names(self) -> list[object]:
        names: list[object] = []
        while True:
            if self._token[:2] == ("symbol", "["):
                with self._brackets("["):
                    names += self._names()
            else:
                names.append(self._one_name())
            if not self._take_symbol(","):
                return names

    def _one_name(self) -> str:
        token = self._token
        quoted = token.kind == "value" and self._text[token.start] in "\"'"
        if not (quoted or token.kind in ("word", "name")):
            self._unexpected("a name")
        if token.kind == "word":
            self._check_name(str(token.value))
        self._at += 1
        return str(token.value)

    def _check_name(self, word: str) -> None:
        if word.startswith("args."):
            self._fail(f"a key stands here; an argument is compared, as in {word} == true")
        if word in RESERVED:
            cure = _CURES.get(word, "it is a word of the language")
            self._fail(f'{word} cannot be a name here: {cure}; as a name it is "{word}"')

    # Values: JSON, with single quotes and durations besides.

    def _literal(self) -> object:
        token = self._token
        if token.kind == "value":
            self._at += 1
            return token.value
        if token.kind == "word" and token.value in _CONSTANTS:
            self._at += 1
            return _CONSTANTS[token.value]
        if token[:2] == ("symbol", "["):
            return self._list()
        if token[:2] == ("symbol", "{"):
            return self._object()
        if token.kind == "word" and token.value not in RESERVED:
            self._fail(f'a value stands here, not a key; as text it is "{token.value}"')
        return self._unexpected("a value")

    def _list(self) -> list[object]:
        values: list[object] = []
        with self._brackets("["):
            while self._token[:2] != ("symbol", "]"):
                values.append(self._literal())
                if not self._take_symbol(","):
                    break
        return values

    def _object(self) -> dict[str, object]:
        fields: dict[str, object] = {}
        with self._brackets("{"):
            while self._token[:2] != ("symbol", "}"):
                name = self._one_name()
                self._expect(":")
                fields[name] = self._literal()
                if not self._take_symbol(","):
                    break
        return fields

    # Tokens, and errors that say where.

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _is_word(self, word: str) -> bool:
        return self._token[:2] == ("word", word)

    def _take_word(self, word: str) -> bool:
        return self._take(("word", word))

    def _take_symbol(self, symbol: str) -> bool:
        return self._take(("symbol", symbol))

    def _take(self, wanted: tuple[str, str]) -> bool:
        found = self._token[:2] == wanted
        self._at += found
        return found

    def _expect(self, symbol: str) -> None:
        if not self._take_symbol(symbol):
            self._unexpected(symbol)

    @contextmanager
    def _brackets(self, opening: str) -> Generator[None]:
        start, closing = self._token.start, _CLOSERS[opening]
        self._expect(opening)
        with self._nested(start):
            yield
        if self._token.kind == "end":
            self._fail(
                f"this {opening} is never closed by {closing}; in a YAML flow mapping {{...}} "
                "quote the whole guard, or write the edge in block style", start, start + 1,
            )  # fmt: skip
        if not self._take_symbol(closing):
            self._unexpected(f"a comma or {closing}" if self._text[start] != "(" else closing)

    @contextmanager
    def _nested(self, start: int) -> Generator[None]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(
                f"a guard nests at most {MAX_DEPTH} deep; name a part of it as a computed key",
                start, start + 1,
            )  # fmt: skip
        yield
        self._depth -= 1

    def _guard(self, piece: _Term | _Built[G]) -> G:
        if isinstance(piece, _Built):
            return piece.guard
        if self._token.value not in _AFTER_GUARD:
            self._unexpected("a comparison")
        end = self._tokens[self._at - 1].end
        written = self._text[piece.start : end]
        is_key = type(piece.form) is dict and "key" in piece.form
        cure = f"write is_true({written}) or compare it" if is_key else "compare it with another"
        return self._fail(f"{written} is a value, not a yes or no; {cure}", piece.start, end)

    def _term(self, piece: _Term | _Built[G]) -> object:
        if isinstance(piece, _Term):
            return piece.form
        end = self._tokens[self._at - 1].end
        return self._fail("a yes or no is not compared; join it by and, or, not", piece.start, end)

    def _made(self, form: object, start: int) -> _Built[G]:
        end = self._tokens[self._at - 1].end
        try:
            return _Built(self._build(form), start)
        except GuardError as error:
            raise GuardError(
                str(error), text=self._text, offset=start, length=end - start
            ) from None

    def _unexpected(self, wanted: str) -> NoReturn:
        token = self._token
        if token.kind == "end":
            self._fail(f"the guard ends where {wanted} was to follow")
        cure = _CURES.get(str(token.value))
        written = self._text[token.start : token.end]
        self._fail(f"{written} stands where {wanted} was to follow" + (f"; {cure}" if cure else ""))

    def _fail(self, message: str, start: int | None = None, end: int | None = None) -> NoReturn:
        token = self._token
        start = token.start if start is None else start
        end = token.end if end is None else end
        raise GuardError(message, text=self._text, offset=start, length=max(1, end - start))


def _literal_form(value: object) -> object:
    return cast("object", {"value": value} if type(value) is dict else value)
