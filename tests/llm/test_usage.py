from flowengine.llm import Usage
from flowengine.llm.usage import MOST, add_usage


def test_a_field_nobody_reported_stays_none() -> None:
    total = Usage(input_tokens=1) + Usage(input_tokens=2, output_tokens=3)
    assert total == Usage(input_tokens=3, output_tokens=3)
    assert total.cached_input_tokens is None


def test_addition_saturates_and_subtraction_stops_at_zero() -> None:
    assert (Usage(input_tokens=MOST) + Usage(input_tokens=1)).input_tokens == MOST
    assert (Usage(input_tokens=1) - Usage(input_tokens=5)).input_tokens == 0


def test_the_reported_total_is_preferred_and_a_sum_needs_both_counts() -> None:
    assert Usage(input_tokens=1, output_tokens=2, total_tokens=9).total() == 9
    assert Usage(input_tokens=1, output_tokens=2).total() == 3
    assert Usage(input_tokens=1).total() is None


def test_a_newer_snapshot_replaces_only_what_it_reports() -> None:
    first = Usage(input_tokens=10, output_tokens=1)
    assert first.latest(Usage(output_tokens=5)) == Usage(input_tokens=10, output_tokens=5)


def test_a_sum_of_nothing_is_none_not_zero() -> None:
    assert add_usage(None, None) is None
    assert add_usage(None, Usage(input_tokens=1)) == Usage(input_tokens=1)


def test_gemini_counts_thoughts_as_output_and_tool_prompts_as_input() -> None:
    counts = {"promptTokenCount": 10, "toolUsePromptTokenCount": 2, "candidatesTokenCount": 3}
    counts |= {"thoughtsTokenCount": 4, "cachedContentTokenCount": 5, "totalTokenCount": 19}
    assert Usage.from_gemini(counts) == Usage(
        input_tokens=12,
        output_tokens=7,
        total_tokens=19,
        cached_input_tokens=5,
        reasoning_tokens=4,
    )
    assert Usage.from_gemini({}) == Usage()
