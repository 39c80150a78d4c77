"""An attribute worked out when it is first read; without the lock of `functools`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
Owner = TypeVar("Owner")


class lazy(Generic[Owner, T]):
    """Keeps the first result in the instance's dictionary, where later reads find it at once.

    Two threads may both work it out; the results are equal. The lock of `cached_property` would
    cost more than most of the values.
    """

    def __init__(self, work: Callable[[Owner], T]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Owner]) -> lazy[Owner, T]: ...
    @overload
    def __get__(self, instance: Owner, owner: type[Owner]) -> T: ...
    def __get__(self, instance: Any, owner: type[Owner]) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work(instance)
        return value
