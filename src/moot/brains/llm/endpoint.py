"""Who is asked: a provider, at an address, with a key; and how its failures are told.

Above: brain_string.py makes it, the adapters ask it. Below: trouble.py, keys.py.
Not here: telling one failure from another (provider_errors.py).
"""

from urllib.parse import urlsplit

from msgspec import Struct

from moot.brains.llm.answer import Hearing
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
    """Whose key it takes: see keys.py."""
    key: Secret | None
    is_own: bool
    """The provider's own address, not a compatible server."""
    idle_seconds: float
    max_tokens: int
    """Longest answer asked for."""

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
        """Every sentence leaves through here, and no key with it."""
        sentence = f"{self.label}: {words}"
        if self.key is not None:
            sentence = self.key.hide_in(sentence)
        return ModelTrouble(
            kind, sentence, usage=usage, retryable=retryable, retry_after=retry_after, status=status
        )

    def broke_off(self, usage: Usage) -> ModelTrouble:
        return self.trouble(
            TroubleKind.CONNECTION, "the connection broke before the answer was complete", usage=usage
        )

    def verdict(self, hearing: Hearing) -> ModelTrouble | None:
        """What is wrong with an answer that came to its end without an error."""
        if not hearing.is_whole:
            return self.broke_off(hearing.usage)
        if hearing.is_refused:
            return self.trouble(TroubleKind.REFUSED, REFUSED, usage=hearing.usage)
        return None
