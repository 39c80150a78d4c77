"""Which provider serves a model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from flowengine.errors import FlowError
from flowengine.extract import Providers, default_model
from flowengine.llm import AuthFailed, ChatRequest, GeminiProvider, ScriptedProvider


def test_a_registered_name_or_pattern_wins_over_gemini_and_an_exact_name_over_a_pattern() -> None:
    one, many, any_gemini = ScriptedProvider(), ScriptedProvider(), ScriptedProvider()
    served = Providers({"llama-*": many, "llama-3": one, "gemini-2*": any_gemini})
    assert served.serving("llama-3").provider is one
    assert served.serving("llama-4").provider is many
    assert served.serving("gemini-2.5-flash") == ("gemini-2.5-flash", any_gemini)
    assert isinstance(served.serving("gemini-3.5-flash").provider, GeminiProvider)


def test_gemini_names_share_one_provider_so_that_what_it_learns_stays() -> None:
    served = Providers()
    one = served.serving("gemini-3.5-flash-lite").provider
    assert served.serving("models/gemini-3.5-flash").provider is one


@pytest.mark.parametrize(
    ("environment", "model"),
    [
        ({}, "gemini-flash-latest"),
        ({"GEMINI_TEXT_MODEL": "  "}, "gemini-flash-latest"),
        ({"GEMINI_TEXT_MODEL": "gemini-3.5-flash"}, "gemini-3.5-flash"),
    ],
)
def test_no_name_means_the_environments_else_the_latest_flash(
    environment: Mapping[str, str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_TEXT_MODEL", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert default_model() == default_model(environment) == model
    assert Providers().serving().name == model


def test_a_provider_for_everything_else_serves_any_name() -> None:
    one, other = ScriptedProvider(), ScriptedProvider()
    served = Providers({"llama-*": one}, otherwise=other)
    assert served.serving("gemini-3.5-flash").provider is other
    assert served.serving().provider is other
    assert served.serving("llama-3").provider is one


def test_whatever_a_session_takes_becomes_providers() -> None:
    one = ScriptedProvider()
    served = Providers({"a": one})
    assert Providers.of(served) is served
    assert Providers.of(one).serving("a").provider is one
    assert Providers.of({"a": one}).serving("a").provider is one
    assert isinstance(Providers.of(None).serving("gemini-x").provider, GeminiProvider)


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("gemni-3.5-flash-lite", " Did you mean 'gemini-3.5-flash-lite'?"),
        ("lama-3-large", " Did you mean 'llama-3-large'?"),
        ("zephyr", ""),
    ],
)
def test_a_name_that_nobody_serves_is_an_error_with_the_cure_and_the_near_miss(
    name: str, guess: str
) -> None:
    with pytest.raises(FlowError) as failed:
        Providers({"llama-3-large": ScriptedProvider()}).serving(name)
    assert str(failed.value) == (
        f"no provider serves the model {name!r}: register one with "
        f"`Providers({{{name!r}: provider}})`, or name a gemini-* model.{guess}"
    )


@pytest.mark.anyio
async def test_a_key_is_asked_for_at_the_first_call_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    served = Providers()
    await served.aclose()
    model, provider = served.serving("gemini-3.5-flash")
    with pytest.raises(AuthFailed, match="GEMINI_API_KEY"):
        await provider.chat(ChatRequest(model=model).user("hi"))


def test_importing_extraction_loads_no_sdk_and_naming_a_flow_entry_no_provider() -> None:
    code = (
        "import sys, flowengine.extract as e, flowengine.extract.spec\n"
        "print('flowengine.llm' in sys.modules)\n"
        "[getattr(e, name) for name in e.__all__]\n"
        "e.Providers().serving('gemini-3.5-flash')\n"
        "print('google.genai' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
