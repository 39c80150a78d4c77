from __future__ import annotations

import pytest

from flowengine.llm import InvalidRequest, ModelProfile
from flowengine.llm.messages import Thinking
from flowengine.llm.thinking import ThinkingLadder, rungs_of


@pytest.mark.parametrize(
    ("model", "asked", "rungs"),
    [
        ("gemini-3.1-flash-lite", 0, (0, 64, None)),
        ("gemini-3.5-flash-lite", 0, (64, None)),
        ("gemini-2.5-flash-lite", 0, (0, 64, None)),
        ("gemini-2.5-flash-lite", 64, (512, None)),
        ("gemini-2.5-pro", 0, (128, None)),
        ("gemini-2.5-pro", 50_000, (32_768, None)),
        ("models/gemini-2.5-flash", -1, (-1, None)),
        ("gemini-2.0-flash", 0, (None,)),
        ("gemma-3", "high", (None,)),
        ("gemini-3-pro", "low", ("low", None)),
        ("gemini-2.5-flash", "high", (24_576, None)),
        ("a-model-of-tomorrow", 0, (0, 64, None)),
        ("gemini-3-pro", None, (None,)),
    ],
)
def test_the_rungs_follow_what_is_known_of_the_model(
    model: str, asked: Thinking, rungs: tuple[Thinking, ...]
) -> None:
    assert rungs_of(asked, ModelProfile.for_model(model)) == rungs


def test_only_an_error_about_thinking_moves_on_and_the_last_rung_is_the_last() -> None:
    climb = ThinkingLadder().climb("m", 0, ModelProfile())
    assert not climb.rejected(InvalidRequest("temperature is wrong"))
    assert climb.rejected(InvalidRequest("Thinking budget"))
    assert climb.rejected(InvalidRequest("Thinking budget"))
    assert climb.thinking is None
    assert not climb.rejected(InvalidRequest("Thinking budget"))


def test_what_was_learned_is_per_model_and_per_wish() -> None:
    ladder, profile = ThinkingLadder(), ModelProfile()
    climb = ladder.climb("m", 0, profile)
    climb.rejected(InvalidRequest("thinking"))
    assert ladder.climb("m", 0, profile).thinking == 0
    climb.worked()
    assert ladder.climb("m", 0, profile).thinking == 64
    assert ladder.climb("m", 512, profile).thinking == 512
    assert ladder.climb("n", 0, profile).thinking == 0
