"""Where an agent stands: who is above, below and beside it, whom it may write to, and which tools that makes useful.

Read from the link graph and the policy, never from what anybody wrote. Above: context/ tells agents of it and offers
tools by it, MCP lists tools by it. Below: graph.py, links.py. Not here: whether a message is let through; that is
decided again when it is sent.
"""

from typing import assert_never

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.prompt import Need
from moot.model.records.link import Policy, Relationship
from moot.rules.graph import Graph
from moot.rules.links import verdict


class OrgPlace(Struct, frozen=True):
    participant: ParticipantId
    graph: Graph
    policy: Policy
    has_task: bool = False
    """It has delegated or works on a task that is not finished."""
    is_person: bool = False
    """Links bind agents only."""

    def relationship(self, other: ParticipantId) -> Relationship | None:
        """What somebody is to it, by a link that is on."""
        link = self.graph.between(self.participant, other)
        return link.seen_by(self.participant) if link is not None and link.enabled else None

    def may_write_to(self, other: ParticipantId) -> bool:
        """Whether it may start with an agent."""
        return self.is_person or verdict(self.graph, self.policy, self.participant, other).bar is None

    @property
    def may_write(self) -> bool:
        """Whether a link lets it start with somebody, or nothing binds it."""
        if self.is_person or self.policy is Policy.OPEN:
            return True
        if self.policy is Policy.AUTO and not self.graph.binds(self.participant):
            return True
        return any(
            link.enabled and link.may_start(self.participant) for link in self.graph.of(self.participant)
        )

    def meets(self, need: Need) -> bool:
        """Whether a tool that needs this is of use to it."""
        match need:
            case Need.NOTHING:
                return True
            case Need.SOMEBODY_TO_WRITE_TO:
                return self.may_write
            case Need.SOMEBODY_BELOW:
                return self.is_person or bool(self.graph.related(self.participant, Relationship.SUBORDINATE))
            case Need.UNFINISHED_TASK:
                return self.is_person or self.has_task
        assert_never(need)
