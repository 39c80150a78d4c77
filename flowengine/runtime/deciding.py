"""Answers to a round of questions: by the flow's own rules, the rest by whoever decides."""

from __future__ import annotations

from flowengine.decide.decider import Decider, Question
from flowengine.decide.decider import asked_models as models_of
from flowengine.decide.llm import LlmDecider
from flowengine.decide.routing import RoutingDecider
from flowengine.decide.rules import RuleDecider
from flowengine.effects import Decide
from flowengine.extract.answer import recognized
from flowengine.inputs import Json
from flowengine.kernel import CompiledFlow
from flowengine.llm.provider import ServedModel
from flowengine.runtime.services import Services


async def answers(effect: Decide, flow: CompiledFlow, services: Services) -> dict[str, Json]:
    """Raw answers by question; one that is left out is unsure."""
    questions = [
        Question(id, flow.flow.decisions[id], effect.options[id]) for id in effect.questions
    ]
    rules = _rules(flow)
    asked = not all(rules.answers(question) for question in questions)
    model = _model(flow, services) if asked else None
    return dict(await RoutingDecider(rules, model).decide(questions, effect.window, effect.context))


def asked_models(flow: CompiledFlow, services: Services) -> tuple[ServedModel, ...]:
    """The models that may be asked one of the flow's questions."""
    questions = [Question.of(id, spec) for id, spec in flow.flow.decisions.items()]
    rules = _rules(flow)
    rest = [question for question in questions if not rules.answers(question)]
    return models_of(_model(flow, services), rest) if rest else ()


def _rules(flow: CompiledFlow) -> RuleDecider:
    return RuleDecider(flow.functions.of("decision"), recognized)


def _model(flow: CompiledFlow, services: Services) -> Decider:
    """Whoever was passed, else the flow's model for decisions, else the one that extracts."""
    if services.decider is not None:
        return services.decider

    def make() -> LlmDecider:
        models = flow.flow.models
        name, provider = services.providers.serving(models.decision or models.extraction)
        return LlmDecider(provider, name)

    return services.once((flow.hash, "decider"), make)
