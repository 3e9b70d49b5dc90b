"""A model's endpoint: a provider, its address, its key; and the sentences about its failures.

Above: brain_string.py makes it, the adapters send requests to it. Below: trouble.py, keys.py.
Not here: classifying failures (provider_errors.py).
"""

from urllib.parse import urlsplit

from msgspec import Struct

from moot.brains.llm.answer import PartialAnswer
from moot.brains.llm.keys import Secret, is_near
from moot.brains.llm.trouble import ONE_CALL, ModelTrouble, TroubleKind
from moot.model.prompt import Usage

REFUSED = "the provider's filter blocked the answer"


class ModelEndpoint(Struct, frozen=True):
    name: str
    """The brain string."""
    provider: str
    model: str
    url: str
    holder: str
    """The owner of the key it takes: see keys.py."""
    key: Secret | None
    is_own: bool
    """The provider's own address, not a compatible server."""
    idle_seconds: float
    max_tokens: int
    """The limit of one answer."""

    @property
    def label(self) -> str:
        return self.provider if self.is_own else f"{self.provider} at {urlsplit(self.url).netloc}"

    @property
    def is_local(self) -> bool:
        return is_near(urlsplit(self.url).hostname or "")

    def trouble(
        self,
        kind: TroubleKind,
        words: str,
        *,
        usage: Usage = ONE_CALL,
        retryable: bool | None = None,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> ModelTrouble:
        """All sentences are made here, so that none contains a key."""
        sentence = f"{self.label}: {words}"
        if self.key is not None:
            sentence = self.key.hide_in(sentence)
        return ModelTrouble(
            kind, sentence, usage=usage, retryable=retryable, retry_after=retry_after, status=status
        )

    def connection_lost(self, usage: Usage) -> ModelTrouble:
        return self.trouble(
            TroubleKind.CONNECTION, "the connection broke before the answer was complete", usage=usage
        )

    def trouble_with(self, answer: PartialAnswer) -> ModelTrouble | None:
        """What is wrong with an answer that ended without an error; None if nothing is."""
        if not answer.is_whole:
            return self.connection_lost(answer.usage)
        if answer.is_refused:
            return self.trouble(TroubleKind.REFUSED, REFUSED, usage=answer.usage)
        return None
