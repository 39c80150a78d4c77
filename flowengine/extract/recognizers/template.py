"""Templates: the notation of grammar rules, read into nodes.

A template is a row of elements. `word` is that word, `{class}` a lexeme of the class,
`{slot:a|=b}` one of class a, or the word b, kept under a name. `[...]` is optional, `(...|...)` a
choice, `,` and `.` punctuation that was written, `^` the beginning, `$` the end. A prefix makes an
element a condition: `&x` x follows, `!x` x does not follow, `&<x` x comes before, `!<x` x does not.
`{name}` of a macro is the macro's template, `{~name}` the same without keeping it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flowengine.extract.recognizers.lexemes import COMMA, STOP, Alphabet

_ELEMENT = re.compile(r"&<|!<|[&!]|\{[^}]*\}|[\[\]()|,$^.]|[^\s\[\](){}|,$^!&]+")
_CONDITION = {"&": "(?=", "!": "(?!", "!<": "(?<!", "&<": "(?<="}
_NOTHING = "(?!)"
WORD = "w:"
"""Prefix of the class that stands for one literal word."""


def literals(template: str) -> list[str]:
    """The words a template names, so that the alphabet has a class for each."""
    inside = re.findall(r"(?<=[:|])=([^|}]+)", template)
    return [e for e in _ELEMENT.findall(template) if e[0] not in "&!{[]()|,$^."] + inside


@dataclass(slots=True)
class Node:
    """A set of characters, an anchor, or a choice of rows; kept, optional or a condition."""

    chars: frozenset[str] = frozenset()
    anchor: str = ""
    choice: list[list[Node]] = field(default_factory=list[list["Node"]])
    slot: str = ""
    optional: bool = False
    condition: str = ""


class TemplateReader:
    """Reads templates over one alphabet; macros are templates by name."""

    def __init__(self, alphabet: Alphabet, macros: Mapping[str, str]) -> None:
        self._alphabet = alphabet
        self._macros = macros

    def read(self, template: str) -> Node:
        elements = _ELEMENT.findall(template)
        node, rest = self._choice(elements)
        if rest:
            raise ValueError(f"a bracket too many in the template {template!r}")
        return node

    def _choice(self, elements: Sequence[str]) -> tuple[Node, Sequence[str]]:
        """Rows apart by `|`, up to a closing bracket or the end."""
        rows: list[list[Node]] = [[]]
        condition = ""
        while elements and elements[0] not in ("]", ")"):
            element, elements = elements[0], elements[1:]
            if element == "|":
                rows.append([])
            elif element in _CONDITION:
                condition = element
            else:
                if element in ("[", "("):
                    node, elements = self._choice(elements)
                    elements = elements[1:]
                    node.optional = element == "["
                else:
                    node = self._single(element)
                node.condition, condition = condition, ""
                rows[-1].append(node)
        return Node(choice=rows), elements

    def _single(self, element: str) -> Node:
        if element in ("$", "^"):
            return Node(anchor=element)
        if element in (COMMA, STOP):
            return Node(chars=frozenset(element))
        if element[0] != "{":
            return Node(chars=self._chars((WORD + element,)))
        if element.startswith("{~"):
            return self.read(self._macros[element[2:-1]])
        slot, _, classes = element[1:-1].partition(":")
        names = (classes or slot).split("|")
        if len(names) == 1 and names[0] in self._macros:
            node = self.read(self._macros[names[0]])
        else:
            node = Node(chars=self._chars(names))
        node.slot = slot
        return node

    def _chars(self, names: Sequence[str]) -> frozenset[str]:
        names = [WORD + name[1:] if name[0] == "=" else name for name in names]
        for name in names:
            if not self._alphabet.knows(name):
                raise KeyError(f"a template names the class {name!r}, which the locale lacks")
        return frozenset(char for name in names for char in self._alphabet.charset(name))


def pattern(node: Node, keep: Callable[[str], None] | None) -> str:
    """The regular expression of a node; `keep` is told of each slot, in order of its group."""
    inside = None if node.condition else keep
    if node.slot and inside:
        inside(node.slot)
    within = None if node.slot else inside
    if node.anchor:
        body = node.anchor
    elif node.choice:
        body = "|".join("".join(pattern(n, within) for n in row) for row in node.choice)
    else:
        chars = "".join(sorted(re.escape(char) for char in node.chars))
        body = f"[{chars}]" if chars else _NOTHING
    if node.condition:
        return f"{_CONDITION[node.condition]}{body})"
    opening = "(" if node.slot and inside else "(?:" if node.choice else ""
    return f"{opening}{body}{')' if opening else ''}{'?' if node.optional else ''}"


def starts(node: Node) -> tuple[frozenset[str], bool]:
    """The characters a node may begin with, and whether it may be empty."""
    if node.condition or node.anchor:
        return frozenset(), True
    if not node.choice:
        return node.chars, node.optional
    first: set[str] = set()
    empty = node.optional
    for row in node.choice:
        for part in row:
            chars, may_be_empty = starts(part)
            first |= chars
            if not may_be_empty:
                break
        else:
            empty = True
    return frozenset(first), empty
