"""Whether the folders that tools and coding CLIs work in are apart from the home.

Above: load.py. Below: home.py. The tool looks again whenever it runs (tools/shell.py): a link may have come since.
"""

from collections.abc import Iterator

from moot.model.json import JsonObject
from moot.rules.brain_kinds import is_cli
from moot.settings.home import Home
from moot.settings.problems import SettingProblem, as_toml, label
from moot.settings.schema.tools import toolbox
from moot.settings.toml.positions import Path

EXPECTED = "expected a folder outside it"


def overlapping(tree: JsonObject, home: Home) -> Iterator[SettingProblem]:
    """Rows with a shell or a coding CLI whose project is the home, a part of it, or around it."""
    for number, row in enumerate(tree.get("agents", ())):
        yield from _row(row, ("agents", number), home)
    for name, template in tree.get("templates", {}).items():
        if "project" in template:  # otherwise the spawner says where
            yield from _row(template, ("templates", name), home)


def _row(row: JsonObject, at: Path, home: Home) -> Iterator[SettingProblem]:
    cli = is_cli(row.get("brain", ""))
    if not cli and not toolbox(row.get("tools", ())).programs:
        return
    if "project" not in row and cli:
        return  # reported when the agent is started: a row alone does no harm
    if "project" not in row:
        words = "enable a shell without a project to use it in, and the default is Moot's own home"
        yield SettingProblem((*at, "tools"), f'tools {words}; {EXPECTED}, such as project = "~/work/site"')
    elif how := home.overlaps(home.folder(row["project"])):
        place = (*at, "project")
        why = "a tool there could change an agent's identity or read the owner's files"
        yield SettingProblem(place, f"{label(place)} = {as_toml(row['project'])} {how}; {EXPECTED}", why)
