"""Locale data: a language is a file, its state has a name, and Spanish needs no code."""

from datetime import datetime
from decimal import Decimal

import pytest

from flowengine.extract.recognizers import locale_hash, recognize
from flowengine.extract.recognizers.locale import languages, locale_of

REF = datetime(2026, 3, 4, 10, 30)


def test_the_hash_names_the_present_state():
    assert len(locale_hash()) == 64
    assert locale_hash() == locale_hash()


def test_every_grammar_of_every_language_compiles():
    for language in languages():
        locale = locale_of(language)
        for name in locale.data["grammars"]:
            assert locale.grammar(name) is locale.grammar(name)


def test_a_language_alone_has_its_default_region():
    assert locale_of("en").name == "en-US"
    assert locale_of("en_gb").day_first


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("number", "treinta y cinco", 35),
        ("number", "doscientos cincuenta y seis mil", 256000),
        ("number", "tres coma catorce", 3.14),
        ("yes_no", "claro que sí", True),
        ("yes_no", "sí pero hoy no", False),
        ("yes_no", "no sé", None),
        ("money", "veinte dólares con cincuenta centavos", Decimal("20.50")),
        ("money", "treinta euros no espera cuarenta euros", Decimal(40)),
        ("money", "1.500,50 €", Decimal("1500.50")),
        ("datetime", "pasado mañana", "2026-03-06"),
        ("datetime", "mañana a las tres de la tarde", "2026-03-05T15:00"),
        ("datetime", "mañana por la mañana a las nueve", "2026-03-05T09:00"),
        ("datetime", "a las cinco menos cuarto", "16:45"),
        ("datetime", "el quince de marzo", "2026-03-15"),
        ("datetime", "hace dos días", "2026-03-02"),
        ("datetime", "el viernes que viene", "2026-03-06"),
        ("datetime", "fin de mes", "2026-03-31"),
        ("duration", "una hora y media", "PT90M"),
    ],
)
def test_spanish_is_read(kind, text, value):
    found = recognize(kind, text, ref=REF, locale="es-ES")
    assert (found[0].value if found else None) == value
