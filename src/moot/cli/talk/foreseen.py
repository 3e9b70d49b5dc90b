"""Who would answer a message, said in one line before it is sent. The same in every kind of chat."""

from moot import shapes
from moot.model.answer import Preview


def will_answer(found: Preview, where: shapes.Conversation, *, cap: int | None = None, note: str = "") -> str:
    must = f"{', '.join(found.must)} (forced)" if found.must else "nobody forced"
    may = [f"{', '.join(found.may)} may join"] if found.may else []
    limit = [f"cap {cap or found.cap}"] if where.kind == "group" else []
    blocked = [f"{row.agent} cannot: {row.reason}" for row in found.blocked]
    return "will answer: " + " · ".join([must, *may, *blocked, *limit, *([note] if note else [])])
