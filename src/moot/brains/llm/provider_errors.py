"""Errors of the providers' libraries, as `ModelTrouble`.

Above: the adapters. Below: endpoint.py, trouble.py; httpx2, so it is imported late, with the libraries.
Not here: either of those libraries. Their errors have the same attributes, and are recognised by them.
"""

from collections.abc import Iterator
from typing import Final

import httpx2

from moot.brains.llm.answer import AnswerTooLarge
from moot.brains.llm.endpoint import REFUSED, ModelEndpoint
from moot.brains.llm.transport import TOO_LARGE
from moot.brains.llm.trouble import ModelTrouble, TroubleKind, identifiers, kind_of, requested_wait
from moot.model.prompt import Usage

WORDS: Final = {
    TroubleKind.NO_CREDIT: "the account is out of credit",
    TroubleKind.RATE_LIMITED: "too many requests from this account",
    TroubleKind.OVERLOADED: "the provider has internal problems",
    TroubleKind.TIMEOUT: "the provider timed out waiting for its model",
    TroubleKind.REFUSED: REFUSED,
    TroubleKind.TOO_LONG: "the prompt is too long for the model; reduce context_tokens",
    TroubleKind.BAD_REQUEST: "the provider rejected the request",
}
"""For failures that come as a status; the sentences for a refused key and an unknown model are below."""
_OK: Final = 200


def trouble_of(error: Exception, endpoint: ModelEndpoint, usage: Usage) -> ModelTrouble:
    for cause in _causes(error):
        trouble = _connection_trouble(cause, endpoint, usage)
        if trouble is not None:
            return trouble
    status, body = getattr(error, "status_code", None), getattr(error, "body", None)
    if isinstance(status, int) or body is not None:
        return _status_trouble(error, status if isinstance(status, int) else _OK, body, endpoint, usage)
    words = f"its answer cannot be read ({type(error).__name__}); check its URL"
    return endpoint.trouble(TroubleKind.BAD_ANSWER, words, usage=usage)


def _connection_trouble(cause: BaseException, endpoint: ModelEndpoint, usage: Usage) -> ModelTrouble | None:
    match cause:
        case ModelTrouble():  # transport.py refused it
            return endpoint.trouble(cause.kind, cause.sentence, usage=usage, retryable=cause.retryable)
        case AnswerTooLarge():
            return endpoint.trouble(TroubleKind.BAD_ANSWER, TOO_LARGE, usage=usage, retryable=False)
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return endpoint.trouble(TroubleKind.CONNECTION, "it cannot be reached", usage=usage)
        case httpx2.TimeoutException():
            words = f"it sent nothing for {endpoint.idle_seconds:g} s"
            return endpoint.trouble(TroubleKind.TIMEOUT, words, usage=usage)
        case httpx2.RequestError():
            return endpoint.connection_lost(usage)
        case _:
            return None


def _status_trouble(
    error: Exception, status: int, body: object, endpoint: ModelEndpoint, usage: Usage
) -> ModelTrouble:
    """The server answered with an error; only its codes are repeated, not its words."""
    kind = kind_of(status, body)
    response = getattr(error, "response", None)
    wait = requested_wait(response.headers) if isinstance(response, httpx2.Response) else None
    codes = ", ".join([f"HTTP {status}", *dict.fromkeys(identifiers(body))])
    words = f"{_sentence(kind, endpoint)} ({codes})"
    if wait is not None and kind is TroubleKind.RATE_LIMITED:
        words += f"; it asks to wait {wait:g} s"
    return endpoint.trouble(kind, words, usage=usage, retry_after=wait, status=status)


def _sentence(kind: TroubleKind, endpoint: ModelEndpoint) -> str:
    if kind is TroubleKind.AUTH and endpoint.key is None:
        return f"it requires a key, and none is set for {endpoint.holder}"
    if kind is TroubleKind.AUTH and endpoint.key is not None:
        return f"the key ending {endpoint.key.ending} was refused by {endpoint.holder}"
    if kind is TroubleKind.UNKNOWN_MODEL:
        return "it has no such model, or its URL is wrong"  # only the owner sees which: it is the brain
    return WORDS[kind]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
