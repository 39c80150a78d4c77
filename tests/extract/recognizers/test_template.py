"""The notation of grammar rules: optional parts, choices, conditions, slots, macros."""

import re

import pytest

from flowengine.extract.recognizers.lexemes import Alphabet
from flowengine.extract.recognizers.template import TemplateReader, literals, pattern, starts

CLASSES = {"month": ["march", "may"], "w:of": ["of"], "w:the": ["the"], "w:i": ["i"]}


@pytest.fixture
def alphabet():
    return Alphabet(CLASSES)


def matches(alphabet, template, text, macros=None):
    node = TemplateReader(alphabet, macros or {}).read(template)
    slots = []
    compiled = re.compile(pattern(node, slots.append))
    code = "".join(alphabet.code(alphabet.mask_of.get(word, 0)) for word in text.split())
    found = compiled.match(code)
    return (found.end(), slots) if found else None


def test_an_optional_part_may_be_absent(alphabet):
    assert matches(alphabet, "[the] {month}", "the may") == (2, ["month"])
    assert matches(alphabet, "[the] {month}", "may") == (1, ["month"])


def test_a_condition_takes_nothing(alphabet):
    assert matches(alphabet, "{month} !(i)", "may i") is None
    assert matches(alphabet, "{month} &of", "may of") == (1, ["month"])


def test_a_choice_and_a_macro(alphabet):
    macros = {"lead": "(of|the)"}
    assert matches(alphabet, "{lead} {m:month}", "of may", macros) == (2, ["lead", "m"])
    assert matches(alphabet, "{~lead} {m:month}", "the may", macros) == (2, ["m"])


def test_an_unknown_class_is_named(alphabet):
    with pytest.raises(KeyError, match="weekday"):
        TemplateReader(alphabet, {}).read("{weekday}")


def test_a_rule_may_begin_with_what_follows_its_optional_parts(alphabet):
    node = TemplateReader(alphabet, {}).read("!<of [the] {month}")
    chars, empty = starts(node)
    assert chars == {alphabet.code(alphabet.mask_of[word]) for word in ("the", "may")}
    assert not empty


def test_literal_words_are_found_in_a_template():
    assert literals("[the] {month} of {count:number|=a} !(i)") == ["the", "of", "i", "a"]
