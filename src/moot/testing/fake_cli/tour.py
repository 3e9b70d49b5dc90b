"""What the three coding agents of `moot demo --tour coding` do: which words call for which acts.

    python -m moot.testing.fake_cli.run acp --tour NAME

Above: cli/talk/demo_clis.py. Below: acts.py plays them.
"""

import json
from collections.abc import Mapping
from typing import Final


def _writes(target: str, text: str) -> str:
    return f"moot send_to_agent {json.dumps({'target': target, 'message': text})}"


TOUR: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "janus": {
        "which port": (
            "say I look at my own project first. ",
            "run pwd",
            _writes("puppet", "Which port does the driver listen on? I need it for the panel."),
            "say I have asked puppet, who keeps the driver.",
        ),
        "listens on": (
            _writes("abra", "The driver listens on port 9223. Please use it in the personas."),
            "say Thank you. I have told abra.",
        ),
        "": ("say [PASS]",),
    },
    "puppet": {
        "which port": ("run cat driver.toml", "say It listens on 9223; it stands in driver.toml."),
        "": ("say [PASS]",),
    },
    "abra": {
        "write a page": ("slow " + "Personas are people that a test pretends to be. " * 20,),
        "9223": (
            "run sed -i s/port.*/port=9223/ personas.toml; cat personas.toml",
            "wish Bash git push",
            "say Done: the personas use port 9223. I may not push by myself, so I have asked you.",
        ),
        "allow once": ("wish Bash git push", "say Pushed."),
        "": ("say [PASS]",),
    },
}
"""Agent → a phrase of the newest message, in small letters → what it does then. The first that fits counts."""


def acts_for(agent: str, newest: str) -> list[str]:
    said = newest.casefold()
    return list(next(acts for phrase, acts in TOUR[agent].items() if phrase in said))
