"""A stream that tells when it has ended, which is how a server's crash is noticed at once."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream

T = TypeVar("T")


class Watched(Generic[T]):
    """What it reads is another stream's; its reader leaves it when that one has ended."""

    def __init__(self, stream: ReadStream[T], on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    async def receive(self) -> T:
        return await self._stream.receive()

    async def aclose(self) -> None:
        self._on_end()
        await self._stream.aclose()

    def __aiter__(self) -> Watched[T]:
        return self

    async def __anext__(self) -> T:
        return await self._stream.__anext__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()
