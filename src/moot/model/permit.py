"""The proof that the link policy let an author speak here. Only rules/links.py makes one."""

from msgspec import Struct

from moot.model.ids import ParticipantId


class Permit(Struct, frozen=True, gc=False):
    author: ParticipantId
    by: str
    """What allowed it: `human`, `system`, `open`, `member`, `link:ID`."""
