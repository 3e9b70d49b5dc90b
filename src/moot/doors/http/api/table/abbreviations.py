"""What most rows of the table say, in few letters."""

from typing import Final

from moot.doors.http.api.route import SubjectKind
from moot.errors import BadText, Braked, Closed, Conflict, StoreUnwritable
from moot.rules.access import Action

CREATED, EMPTY = 201, 204
LOOK, READ, POST, RULE = Action.LOOK, Action.READ, Action.POST, Action.RULE
CREATE, MANAGE, SEE_OWN, CHANGE_OWN = Action.CREATE, Action.MANAGE, Action.SEE_OWN, Action.CHANGE_OWN
IN, AGENT, MESSAGE, TURN = SubjectKind.CONVERSATION, SubjectKind.AGENT, SubjectKind.MESSAGE, SubjectKind.TURN
LINK = SubjectKind.LINK
SPAWN = Action.SPAWN
KEY: Final = ("Idempotency-Key",)
SAYING: Final = (BadText, Closed, Braked, Conflict, StoreUnwritable)
