"""`moot demo`: a team that talks without a key, in a separate home. On a terminal the person can join in."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

import click

from moot import shapes
from moot.brains.code import AgentSpec
from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.run.examples import claude_line, curl_line
from moot.cli.run.welcome import tilde_path
from moot.cli.talk.demo_clis import SIGN as CODING_SIGN
from moot.cli.talk.demo_clis import CodingTour, projects_of
from moot.cli.talk.demo_support import SIGN as SUPPORT_SIGN
from moot.cli.talk.demo_support import SupportTour
from moot.cli.talk.dialogue import Dialogue
from moot.cli.talk.fake_model import fake_model
from moot.cli.talk.follow import FollowedConversation, Outcome, TalkView
from moot.cli.terminal.phrases import agents_in, marks_of, round_line, title
from moot.cli.terminal.screen import Screen, clock_time, hollow
from moot.cli.terminal.views import Plain, Silent, Streaming
from moot.cli.tui import launch
from moot.errors import BadValue, HubRunning
from moot.hub import Hub
from moot.hub.process.hub_lock import HubLock
from moot.model.entrance import DoorName
from moot.settings import Home, load
from moot.wiring import configured_agents

WIDTH = 72
IN_BROWSER = "In your browser (this link signs in once, within ten minutes):"
PAGE_SECONDS = 600.0
"""Time to read what the demo says first."""
DEMO_BRAIN = "demo/1"
FAKE_MODEL = "fake model"
SUPPORT, CODING = "support", "coding"
SIGN = "# The demo team of `moot demo`. Scripted: no model is called."
TOML = f"""{SIGN}
[hub]
port = 0  # any free one

[[agents]]
name = "analyst"
role = "analyst"
brain = "demo"

[[agents]]
name = "writer"
role = "writer"
brain = "demo"

[[agents]]
name = "critic"
role = "critic"
brain = "demo"

# These two thank each other until a brake stops them: `moot demo --tour loop`.
[[agents]]
name = "thanks-ann"
role = "polite agent"
brain = "demo"

[[agents]]
name = "thanks-bob"
role = "polite agent"
brain = "demo"
"""


MODEL_SIGN = f"{SIGN}\n# Here the agents think with a model: a fake one, that the demo starts."


def toml_for(url: str) -> str:
    """The same team, thinking with the model at an address."""
    return TOML.replace(SIGN, MODEL_SIGN).replace('brain = "demo"', f'brain = "openai:fake@{url}/v1"')


class Story:
    """A tour: its agents, the person's first message, and what it shows."""

    def __init__(
        self, name: str, members: tuple[str, ...], opening: str, lesson: str, **settings: object
    ) -> None:
        self.name = name
        self.members = members
        self.opening = opening
        self.lesson = lesson
        self.settings = settings


TOURS = {
    "group": Story(
        "market-team",
        ("analyst", "writer", "critic"),
        "Analyze AAPL earnings, @analyst",
        "You saw: a mention forces a reply, an agent calls another, a third stays silent.",
    ),
    "loop": Story(
        "thanks",
        ("thanks-ann", "thanks-bob"),
        "@thanks-ann, please thank your colleague.",
        "You saw: two agents that only thank each other are stopped by a brake; /continue resumes them.",
        max_agent_turns_per_message=12,
        max_depth=12,
        cooldown_seconds=0.0,
    ),
}


@leaf("demo", examples=("moot demo", "moot demo --tour loop --fast"))
@click.option(
    "--tour",
    type=click.Choice([*TOURS, SUPPORT, CODING]),
    default="group",
    help="Which demo to run (default group).",
)
@click.option("--fast", is_flag=True, help="Print replies at once, without typing speed.")
@click.option("--with-fake-model", is_flag=True, help="Run the agents on a fake model server.")
@click.option("--reset", is_flag=True, help="Remove the demo's home and exit.")
@click.option(
    "--plain", is_flag=True, help="Plain lines without redrawing; each reply is printed once, complete."
)
def demo(session: Session, tour: str, with_fake_model: bool, reset: bool, **options: bool) -> None:
    """Watch offline demo agents talk, and join in."""
    home = Home(home_of(session).path / ("demo-model" if with_fake_model else "demo"))
    desk, bench = (Home(home_of(session).path / f"demo-{name}") for name in (SUPPORT, CODING))
    if reset:
        _reset(session, home.path, desk.path, bench.path)
        return
    set_up_logs(session)
    if options["plain"]:
        session.screen.only_append()
    if tour in (SUPPORT, CODING) and with_fake_model:
        raise click.UsageError(f"the {tour} tour is scripted: leave out --with-fake-model")
    if tour == CODING:
        asyncio.run(CodingTour(session, bench).run())
        return
    if tour == SUPPORT:
        asyncio.run(SupportTour(session, desk).run(fast=options["fast"]))
        return
    show = Demo(session, home, TOURS[tour], plain=options["plain"], toml=TOML)
    asyncio.run(_with_model(show) if with_fake_model else show.run(fast=options["fast"]))


async def _with_model(show: "Demo") -> None:
    """Play with a fake model server: prompts, sockets, streaming and usage are real."""
    async with fake_model() as url:
        show.toml, show.brain = toml_for(url), FAKE_MODEL
        await show.run(fast=False)


def _reset(session: Session, *paths: Path) -> None:
    existing = [path for path in paths if path.exists()] or [*paths[:1]]
    for path in existing:
        _remove(path)
    if session.json:
        session.screen.data({"removed": str(existing[0]), "all": [str(path) for path in existing]})
    for path in existing:
        session.screen.say(f"removed {tilde_path(path)}")


def _remove(path: Path) -> None:
    if not path.exists():
        return
    toml = path / "moot.toml"
    if not toml.exists() or not any(
        sign in toml.read_text(encoding="utf-8") for sign in (SIGN, SUPPORT_SIGN, CODING_SIGN)
    ):
        raise BadValue(
            f"{path} does not look like the demo's home; nothing was removed",
            detail="its moot.toml was not written by the demo",
            fix=(f"rm -r {path}",),
        )
    shutil.rmtree(path)
    shutil.rmtree(projects_of(path), ignore_errors=True)


class Demo:
    def __init__(self, session: Session, home: Home, story: Story, *, plain: bool, toml: str) -> None:
        self.toml = toml
        self.brain = DEMO_BRAIN
        self._session = session
        self._screen: Screen = session.screen
        self._home = home
        self._story = story
        self._plain = plain or self._screen.plain or not session.is_terminal

    async def run(self, *, fast: bool) -> None:
        self._home.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._home.make()
        if self.brain == FAKE_MODEL or not self._home.toml.exists():
            self._home.toml.write_text(self.toml, encoding="utf-8")
        agents = configured_agents(load(self._home), self._home, fast=fast)
        with ExitStack() as stack:
            await self._play(agents, self._hub_lock(stack))

    def _hub_lock(self, stack: ExitStack) -> HubLock | None:
        """On a terminal the demo is a hub that other programs can reach, unless another demo runs."""
        if not self._session.is_terminal or self._session.json:
            return None
        with suppress(HubRunning):
            return stack.enter_context(HubLock(self._home))
        return None

    async def _play(self, agents: list[AgentSpec], lock: HubLock | None) -> None:
        socket = self._home.hub_sock if lock is not None else None
        self._session.home_option = str(self._home.path)  # commands typed in the chat use this home
        async with Hub.open(self._home.path, agents=agents, socket=socket) as hub:
            where = await self._fresh(hub)
            reason = launch.why_not(self._session, plain=self._plain)
            if reason is None:
                await self._on_whole_screen(hub, where, lock)
                return
            if reason:
                self._screen.note(reason)
            self._introduce(where)
            talk = FollowedConversation(hub, where, self._view(hub, where))
            dialogue = Dialogue(self._session, talk, self._note)
            async with talk.following(), dialogue.keyboard():
                outcome = await self._say_opening(hub, dialogue)
                if self._session.json:
                    await self._answer(hub, where, outcome)
                elif lock is not None:
                    await self._join_in_with_doors_open(hub, dialogue, lock)
                elif self._session.is_terminal:
                    await self._join_in(dialogue)
                else:
                    await self._explain(dialogue, outcome)

    async def _fresh(self, hub: Hub) -> shapes.Conversation:
        """Every demo begins anew; earlier ones stay readable in the archive."""
        for old in await hub.conversations.list():
            if old.name == self._story.name:
                await hub.conversations.archive(old.id)
        members, settings = self._story.members, self._story.settings
        return await hub.conversations.create(self._story.name, participants=members, settings=settings)

    @property
    def _note(self) -> str:
        return "0 model calls" if self.brain == DEMO_BRAIN else "a fake model"

    @property
    def _made_by(self) -> str:
        return "a fake model server" if self.brain == FAKE_MODEL else "a demo brain. No model is called"

    async def _on_whole_screen(self, hub: Hub, where: shapes.Conversation, lock: HubLock | None) -> None:
        from moot.cli.tui.chat_room import ChatPlan, TourScript  # noqa: PLC0415  heavy

        before = (
            f"DEMO  Scripted replies by {self._made_by} and nothing leaves this machine. Separate home: "
            f"{tilde_path(self._home.path)} (remove it with: moot demo --reset)"
        )
        after = [self._story.lesson, f"Next: type something · /why · /help · {self._other_tour}"]
        async with AsyncExitStack() as doors:
            if lock is not None:
                url = await doors.enter_async_context(self._doors(hub, lock))
                ways = (curl_line(self._home, url), claude_line(self._home))
                after.append("\n  ".join(("While this runs, from another terminal:", *ways)))
                after.append(f"{IN_BROWSER}\n  {await self._page(hub, url)}")
            plan = ChatPlan(
                look=launch.look(self._session),
                chips=dict.fromkeys(self._story.members, "demo"),
                note=self._note,
                tour=TourScript((before,), self._story.opening, tuple(after)),
            )
            self._session.left = "left the demo."
            if await launch.run(self._session, hub.through(DoorName.TUI), where, plan):
                raise click.Abort

    def _introduce(self, where: shapes.Conversation) -> None:
        say = self._screen.say
        say(f"{self._screen.strong('DEMO')}  Scripted replies by {self._made_by} and nothing")
        say("      leaves this machine.")
        say(f"      Separate home: {tilde_path(self._home.path)}   (remove it with: moot demo --reset)\n")
        members = "   ".join(self._screen.name(seat.name, hollow(seat.mark)) for seat in agents_in(where))
        say(f"{self._screen.strong(title(where))}   {members}")
        self._rule()

    def _rule(self) -> None:
        if not self._plain:
            self._screen.say(self._screen.dim("─" * min(WIDTH, shutil.get_terminal_size().columns - 1)))

    def _view(self, hub: Hub, where: shapes.Conversation) -> TalkView:
        if self._session.json:
            return Silent()
        marks = marks_of(where)
        if self._plain:
            return Plain(self._screen, hub, marks)
        chips = dict.fromkeys(self._story.members, "demo")
        return Streaming(self._screen, hub, marks, chips, after=0.0)

    async def _say_opening(self, hub: Hub, dialogue: Dialogue) -> Outcome:
        at = clock_time(shapes.when(time.time()))
        self._screen.say(
            f"you, {at}:\n{self._story.opening}" if self._plain else f"you ▸ {self._story.opening}"
        )
        outcome = await dialogue.say(self._story.opening)
        self._rule()
        self._screen.say(self._story.lesson)
        return outcome

    async def _join_in(self, dialogue: Dialogue) -> None:
        self._session.left = "left the demo."
        self._screen.say(f"Next:  type something · /why · /help · {self._other_tour}      Ctrl+D leaves")
        await dialogue.run()

    @property
    def _other_tour(self) -> str:
        return f"moot demo --tour {SUPPORT if self._story is TOURS['loop'] else 'loop'}"

    @asynccontextmanager
    async def _doors(self, hub: Hub, lock: HubLock) -> AsyncIterator[str]:
        """Open the doors during the block; yields the address."""
        from moot.cli.run.doors import open_doors  # noqa: PLC0415  heavy, and the story comes first

        instance = f"i{uuid4().hex[:12]}"
        facts = {"instance": instance, "started_at": shapes.when(time.time())}
        async with open_doors(hub, self._home, facts) as at:
            lock.announce(instance, (at.host, at.port, at.url))
            yield at.url

    async def _page(self, hub: Hub, url: str) -> str:
        """The page's address, with a link that signs in once."""
        return f"{url}{(await hub.agents.sign_in_code(hub.name, seconds=PAGE_SECONDS)).path}"

    async def _join_in_with_doors_open(self, hub: Hub, dialogue: Dialogue, lock: HubLock) -> None:
        async with self._doors(hub, lock) as url:
            self._screen.say("While this runs, from another terminal:")
            self._screen.say(f"  {curl_line(self._home, url)}")
            self._screen.say(f"  {claude_line(self._home)}")
            self._screen.say(f"{IN_BROWSER}\n  {await self._page(hub, url)}")
            await self._join_in(dialogue)

    async def _explain(self, dialogue: Dialogue, outcome: Outcome) -> None:
        self._screen.say("\nWhy each agent spoke or stayed silent (moot why, or /why in a chat):")
        await dialogue.why(str(outcome.receipt.seq))
        is_stopped = any(row.duty == "blocked" for row in outcome.last.agents)
        if is_stopped:
            await dialogue.why(outcome.last.message.rpartition(":")[2])
            self._screen.say("\nTo resume them: /continue in a chat, or")
            self._screen.say(f"  moot --home {tilde_path(self._home.path)} conv continue {self._story.name}")
        self._screen.say("\nTo join in, run moot demo in a terminal.")

    async def _answer(self, hub: Hub, where: shapes.Conversation, outcome: Outcome) -> None:
        cap = int(where.settings["max_agent_turns_per_message"])
        messages = await hub.newest(where.id)
        self._screen.data(
            {
                "brain": self.brain,
                "conversation": where.to_dict(),
                "messages": [message.to_dict() for message in messages],
                "why": outcome.why.to_dict(),
                "ended": round_line(outcome.why, outcome.last, len(outcome.replies), cap),
            }
        )
