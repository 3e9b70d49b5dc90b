"""The files that say who an agent is: ROLE, SOUL, IDENTITY and USER in its folder of the home.

Read and written without following a link, as context/identity.py reads them for every turn: what is written counts from
the next turn on. The audit keeps which file was written, not what stands in it.
"""

from hashlib import sha256

from moot import files, shapes
from moot.context.identity import FILES, MAX_BYTES
from moot.errors import BadText, Conflict, NotFound, NotPermitted
from moot.flow import edit_participant
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import Kind, Participant


async def listed(core: Core, name: str) -> list[shapes.RoleFile]:
    agent = await _agent(core, name)
    return [_read(core, agent, file) for file in FILES]


async def written(
    core: Core, me: ParticipantId, name: str, file: str, *, text: str, version: str | None
) -> shapes.RoleFile:
    agent = await _agent(core, name)
    if file not in FILES:
        raise NotFound(
            f'there is no role file "{file[:60]}"', detail=f"files are {', '.join(FILES)}", ref=file
        )
    content = text.encode()
    if len(content) > MAX_BYTES:
        raise BadText(f"{file} would have {len(content)} bytes", detail=f"at most {MAX_BYTES} are read")
    before = _read(core, agent, file)
    if version is not None and version != before.version:
        raise Conflict(
            f"{file} of {agent.name} was changed meanwhile",
            fix=("read it again and merge your change",),
            current_text=before.text,
            current_version=before.version,
            your_text=text,
        )
    path = core.parts.home.agents / agent.id / file
    try:
        files.replace_below(core.parts.home.path, (core.parts.home.agents.name, agent.id, file), content)
    except OSError as error:
        raise files.refused(path, error, file) from None
    order = edit_participant.EditParticipant(agent.id, author=me, file=file)
    await core.do(edit_participant, order)
    return _read(core, agent, file)


async def _agent(core: Core, name: str) -> Participant:
    participant = await core.directory.participant(name)
    if participant.kind is not Kind.AGENT:
        raise NotPermitted(f"{participant.name} has no role files: only agents that Moot runs have")
    return participant


def _read(core: Core, participant: Participant, file: str) -> shapes.RoleFile:
    home = core.parts.home
    try:
        raw = files.read_below(home.path, (home.agents.name, participant.id, file), MAX_BYTES)
    except FileNotFoundError:
        raw = b""
    except OSError as error:
        raise files.refused(home.agents / participant.id / file, error, file) from None
    version = sha256(raw).hexdigest()[:16] if raw else ""
    return shapes.RoleFile(file, raw.decode("utf-8", "replace"), version)
