"""A scope as a decorator: it covers functions, coroutines and generators while they run."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])


class Decorator(ABC):
    """A context manager that can also decorate a function."""

    @abstractmethod
    def __enter__(self) -> Any:
        """Starts the scope."""

    @abstractmethod
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Ends the scope."""

    def decorate(self, function: Wrapped) -> Wrapped:
        """Wraps a function so that it runs in this scope."""
        wrapper: Any
        if inspect.isasyncgenfunction(function):

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return _AsyncSteps(function(*args, **kwargs), self)

        elif inspect.isgeneratorfunction(function):

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return _Steps(function(*args, **kwargs), self)

        elif inspect.iscoroutinefunction(function):

            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)

        else:

            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

        return functools.wraps(function)(wrapper)  # type: ignore[return-value]


class _Steps(Generator[Any, Any, Any]):
    """A generator that is in the scope while it runs, but not while its caller runs."""

    def __init__(self, inner: Generator[Any, Any, Any], scope: Decorator) -> None:
        self._inner, self._scope = inner, scope

    def send(self, value: Any) -> Any:
        with self._scope:
            return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        with self._scope:
            return self._inner.throw(*error)


class _AsyncSteps(AsyncGenerator[Any, Any]):
    """An asynchronous generator that is in the scope while it runs."""

    def __init__(self, inner: AsyncGenerator[Any, Any], scope: Decorator) -> None:
        self._inner, self._scope = inner, scope

    async def asend(self, value: Any) -> Any:
        with self._scope:
            return await self._inner.asend(value)

    async def athrow(self, *error: Any) -> Any:
        with self._scope:
            return await self._inner.athrow(*error)
