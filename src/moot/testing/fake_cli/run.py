"""`python -m moot.testing.fake_cli.run PROTOCOL WORD…`."""

import os
import sys
import time

from moot.testing.fake_cli.acp import ScriptedAcp
from moot.testing.fake_cli.acts import VERSION, ScriptedCli
from moot.testing.fake_cli.claude import ScriptedClaude
from moot.testing.fake_cli.codex import ScriptedCodex


def main(protocol: str, words: list[str]) -> None:
    time.sleep(float(os.environ.get("FAKE_CLI_STARTS_IN", "0")))
    if "--tour" in words:
        ScriptedCli.tour = words[words.index("--tour") + 1]
    if protocol == "codex" or words[:1] == ["--version"]:
        if "--version" in words:
            sys.stdout.write(f"{VERSION} (fake)\n")
            return
        ScriptedCodex(words).main()
    elif protocol == "claude":
        ScriptedClaude(words).main()
    else:
        ScriptedAcp(words).main()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
