"""Who would answer a message, said in one line before it is sent. The same in every kind of chat."""

from moot import shapes
from moot.model.answer import Preview


def will_answer(
    preview: Preview, where: shapes.Conversation, *, cap: int | None = None, note: str = ""
) -> str:
    must = f"{', '.join(preview.must)} (forced)" if preview.must else "nobody forced"
    may = [f"{', '.join(preview.may)} may join"] if preview.may else []
    limit = [f"cap {cap or preview.cap}"] if where.kind == "group" else []
    blocked = [f"{row.agent} cannot: {row.reason}" for row in preview.blocked]
    return "will answer: " + " · ".join([must, *may, *blocked, *limit, *([note] if note else [])])
