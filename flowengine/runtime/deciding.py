"""Answers to a round of questions: by the flow's own rules, the rest by whoever decides."""

from __future__ import annotations

from flowengine.decide.decider import Decider, Question
from flowengine.decide.llm import LlmDecider
from flowengine.decide.routing import RoutingDecider
from flowengine.decide.rules import RuleDecider
from flowengine.effects import Decide
from flowengine.extract.answer import recognized
from flowengine.inputs import Json
from flowengine.kernel import CompiledFlow
from flowengine.runtime.services import Services


async def answers(effect: Decide, flow: CompiledFlow, services: Services) -> dict[str, Json]:
    """Raw answers by question; one that is left out is unsure."""
    questions = [
        Question(id, flow.flow.decisions[id], effect.options[id]) for id in effect.questions
    ]
    rules = RuleDecider(flow.functions.of("decision"), recognized)
    asked = not all(rules.answers(question) for question in questions)
    model = _model(flow, services) if asked else None
    return dict(await RoutingDecider(rules, model).decide(questions, effect.window, effect.context))


def _model(flow: CompiledFlow, services: Services) -> Decider:
    """Whoever was passed, else the flow's model for decisions, else the one that extracts."""
    if services.decider is not None:
        return services.decider

    def make() -> LlmDecider:
        models = flow.flow.models
        name, provider = services.providers.serving(models.decision or models.extraction)
        return LlmDecider(provider, name)

    return services.once((flow.hash, "decider"), make)
