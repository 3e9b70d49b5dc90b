"""Where somebody's code failed: the frames of it, for the owner to look at.

Above: host.py keeps it with the turn. Below: what Python knows of an exception. Not here: the frames of Moot itself,
nor the values of variables; what looks like a secret in a line of code is blackened.
"""

import traceback
from pathlib import Path
from typing import Final

from moot.rules.words.redact import redacted

OURS: Final = str(Path(__file__).parent.parent)
MAX_FRAMES: Final = 20
MAX_LINE: Final = 200


def frames(error: BaseException) -> str:
    """From the first line that is not Moot's on, the newest last; nothing where none is."""
    walked = traceback.extract_tb(error.__traceback__)
    first = next((at for at, frame in enumerate(walked) if not frame.filename.startswith(OURS)), len(walked))
    theirs = walked[first:]
    left_out = max(0, len(theirs) - MAX_FRAMES)
    lines = [f"… {left_out} frames left out"] if left_out else []
    for frame in theirs[left_out:]:
        lines.append(f'File "{frame.filename}", line {frame.lineno}, in {frame.name}')
        lines += [f"  {redacted(frame.line)[:MAX_LINE]}"] if frame.line else []
    return "\n".join(lines)
