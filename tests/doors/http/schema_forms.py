"""Values for the formats that the document names in words. Read by the schemathesis process of test_schema.py."""

import schemathesis
from hypothesis import strategies as st

LETTERS = st.characters(categories=("L", "N"), exclude_characters="\u115f\u1160\u3164\uffa0")


def visible(longest: int) -> st.SearchStrategy[str]:
    """Short enough still when it is composed anew."""
    return st.text(LETTERS, min_size=1, max_size=longest // 4)


schemathesis.openapi.format("conversation-name", visible(100))
schemathesis.openapi.format("display-name", visible(128) | st.just(""))
# Nobody is to be mistaken for another by chance, so no m, 0, 1, l or o.
schemathesis.openapi.format("agent-name", st.from_regex(r"\A[a-k][a-k2-9]{8,20}\Z"))
