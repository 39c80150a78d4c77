"""Sentences made from the grammar rules themselves: whatever a rule can match is read safely."""

import random
from datetime import datetime

import pytest

from flowengine.extract.recognizers import KINDS, Context, recognizer, utterance
from flowengine.extract.recognizers.template import TemplateReader, literals

REF = datetime(2026, 3, 4, 10, 30)
OPTIONS = {
    "integer_near": {"anchors": ["people"]},
    "one_of": {"options": ["pizza", "salad", "soup"]},
    "fuzzy": {"options": ["John Smith", "Jackson"]},
    "regex": {"pattern": "a+"},
    "money": {"full": "100", "minimum": "5"},
    "date": {"holidays": "US"},
    "datetime": {"form": "parts"},
}
READERS = [recognizer(kind, **OPTIONS.get(kind, {})) for kind in KINDS]
NUMBERS = [*map(str, range(130)), "1984", "2027", "930", "0915", "10:30", "3/4/2020", "2.5", "5th"]
LEADS = ["", "at ", "no wait ", "i need ", "from ", "not ", "in ", "the "]


class Sentences:
    """Words for each character of a locale's alphabet, put together as its rules say."""

    def __init__(self, locale, seed):
        self.rng = random.Random(seed)
        self.locale = locale
        self.samples = {}
        for word in sorted(self.vocabulary()):
            code = utterance(word, locale.name).lexemes.code
            self.samples.setdefault(code, []).append(word)

    def vocabulary(self):
        rules = self.rules()
        named = {word for _, template in rules for word in literals(template)}
        classed = {word for members in self.locale.classes.values() for word in members}
        return named | classed | set(self.locale.number_starters) | set(NUMBERS)

    def rules(self):
        lists = self.locale.data["grammars"].values()
        return [pair for rules in lists for rule in rules for pair in rule.items()]

    def of(self, node):
        if node.condition or node.anchor or (node.optional and self.rng.random() < 0.5):
            return []
        if node.choice:
            return [word for part in self.rng.choice(node.choice) for word in self.of(part)]
        known = sorted(char for char in node.chars if char in self.samples)
        return [self.rng.choice(self.samples[self.rng.choice(known)])] if known else []

    def all(self, each):
        reader = TemplateReader(self.locale.alphabet, self.locale.data.get("macros", {}))
        for _, template in self.rules():
            node = reader.read(template)
            for _ in range(each):
                yield self.rng.choice(LEADS) + " ".join(self.of(node))


@pytest.mark.parametrize("name", ["en-US", "en-GB", "es-ES"])
def test_what_a_rule_can_match_is_read_safely(name):
    sentences = Sentences(utterance("", name).locale, seed=7)
    for text in sentences.all(each=2):
        said = utterance(text, name)
        for focus in (None, True, False):
            context = Context(focus=focus, ref=REF, locale=name, tz="America/New_York")
            for reader in READERS:
                for one in reader.recognize(said, context):
                    assert 0 <= one.span[0] < one.span[1] <= len(text), text
                    assert 0 < one.confidence <= 1, text
