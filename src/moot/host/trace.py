"""Where a user's code failed: its frames, for the owner.

Above: host.py keeps it with the turn. Below: Python's traceback. Not here: frames of Moot itself and values of
variables; what looks like a secret in a line of code is redacted.
"""

import traceback
from pathlib import Path
from typing import Final

from moot.rules.words.redact import redacted

OURS: Final = str(Path(__file__).parent.parent)
MAX_FRAMES: Final = 20
MAX_LINE_CHARACTERS: Final = 200


def frames(error: BaseException) -> str:
    """The frames from the first one outside Moot on, newest last; empty if there is none."""
    walked = traceback.extract_tb(error.__traceback__)
    first = next((at for at, frame in enumerate(walked) if not frame.filename.startswith(OURS)), len(walked))
    theirs = walked[first:]
    left_out = max(0, len(theirs) - MAX_FRAMES)
    lines = [f"… {left_out} frames left out"] if left_out else []
    for frame in theirs[left_out:]:
        lines.append(f'File "{frame.filename}", line {frame.lineno}, in {frame.name}')
        lines += [f"  {redacted(frame.line)[:MAX_LINE_CHARACTERS]}"] if frame.line else []
    return "\n".join(lines)
