"""Records answers on a tape and replays them by request, so that a run can be repeated offline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from flowengine.llm.collect import Collector
from flowengine.llm.data import canonical
from flowengine.llm.errors import TapeMiss
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.provider import ChatProvider, Prepared, StreamEvent, closing_stream, warm
from flowengine.llm.scripted import events_of
from flowengine.llm.vocabulary import Capability, Support


def request_digest(request: ChatRequest) -> str:
    """The same for equal requests on every machine."""
    text = canonical(request.model_dump(mode="json", exclude_none=True))
    return hashlib.sha256(text.encode()).hexdigest()


class TapeProvider:
    """Replays `path`; with `record`, asks that provider and appends its answers instead.

    A tape has one JSON line per answer: the request's digest, its model, the response. It holds
    answers, not the words sent. Equal requests are answered in recorded order, the last one again
    and again. Replay never calls a provider: an unknown request is a `TapeMiss`.
    """

    def __init__(self, path: Path | str, record: ChatProvider | None = None) -> None:
        self.name = record.name if record else "tape"
        self._path = Path(path)
        self._record = record
        self._answers: dict[str, list[ChatResponse]] = {}
        self._played: dict[str, int] = {}
        if record is None:
            self._load()

    def capability(self, model: str, capability: Capability) -> Support:
        return self._record.capability(model, capability) if self._record else Support.SUPPORTED

    def prepare(self, request: ChatRequest) -> Prepared:
        return self._record.prepare(request) if self._record else Prepared(request)

    async def warm(self, model: str) -> None:
        if self._record is not None:
            await warm(self._record, model)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        if self._record is None:
            return self._play(request)
        response = await self._record.chat(request)
        self._append(request, response)
        return response

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        if self._record is None:
            for event in events_of(self._play(request)):
                yield event
            return
        collector = Collector()
        async with closing_stream(self._record.stream(request)) as events:
            async for event in events:
                collector.add(event)
                yield event
        self._append(request, collector.response())

    def _play(self, request: ChatRequest) -> ChatResponse:
        digest = request_digest(request)
        answers = self._answers.get(digest)
        if not answers:
            raise TapeMiss(
                f"{self._path.name} has no answer to this request to {request.model} "
                f"(digest {digest[:12]}); record the tape again, the request has changed"
            )
        index = self._played.get(digest, 0)
        self._played[digest] = min(index + 1, len(answers) - 1)
        return answers[index]

    def _append(self, request: ChatRequest, response: ChatResponse) -> None:
        line = {
            "request": request_digest(request),
            "model": request.model,
            "response": response.model_dump(mode="json", exclude_none=True, exclude={"raw"}),
        }
        with self._path.open("a", encoding="utf-8") as tape:
            tape.write(canonical(line) + "\n")

    def _load(self) -> None:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise TapeMiss(f"there is no tape {self._path}; record one first") from None
        for line in lines:
            entry = json.loads(line)
            answer = ChatResponse.model_validate(entry["response"])
            self._answers.setdefault(entry["request"], []).append(answer)
