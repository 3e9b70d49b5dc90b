"""The command line: one module per command, all of them clients of the Python SDK.

Above: people and scripts. Below: the hub, and nothing under it. Not here: rules; it only asks and shows.
Only `app` and `commands` are imported before it is known which command is meant, so that help comes at once;
completion, which a person waits for at every key, imports not even these, nor does a send that waits for nothing.
"""

import os
import sys
from typing import NoReturn

COMPLETING = "_MOOT_COMPLETE"


def main() -> NoReturn:
    if os.environ.get(COMPLETING, "").endswith("_complete"):
        from moot.cli.completion import answer  # noqa: PLC0415  nothing else is needed then

        sys.exit(answer.main(os.environ))
    if "--no-wait" in sys.argv:
        from moot.cli.talk import no_wait  # noqa: PLC0415  only there

        code = no_wait.send(sys.argv[1:])
        if code is not None:
            sys.exit(code)
    from moot.cli.app import run  # noqa: PLC0415  click takes longer to come than a completion may

    sys.exit(run(sys.argv[1:]))


__all__ = ["main"]
