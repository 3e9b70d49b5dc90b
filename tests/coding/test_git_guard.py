"""What an agent leaves in a repository makes no git of a person's run a program: tried with a real git, in and outside
of the sandbox."""

import os
import subprocess
from pathlib import Path

import pytest

from moot.brains.command.cli_sandbox import find_bwrap, wrapper
from moot.brains.command.repository import quarantine
from moot.brains.command.repository.git_guard import GitGuard
from moot.brains.command.repository.git_settings import added_by_stealth
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("J-09")

BY_PERSON = ("-c", "user.name=p", "-c", "user.email=p@x", "-c", "protocol.file.allow=always")


class Checkout:
    """A repository with a submodule and a worktree, an agent that may write in it, and a person who uses git there."""

    def __init__(self, workshop: Workshop) -> None:
        self.home = workshop.home
        self.project = workshop.project("code")
        self.ran = workshop.root / "ran"
        self.evil = workshop.script("evil", f"touch {self.ran}; exit 1")
        other = workshop.project("library")
        for folder in (other, self.project):
            self.git(folder, "init", "--quiet", "--initial-branch=main")
            (folder / "a.txt").write_text("one\n")
            self.git(folder, "add", "--all")
            self.git(folder, "commit", "--quiet", "--message=first")
        self.git(self.project, "submodule", "--quiet", "add", str(other), "lib")
        self.git(self.project, "commit", "--quiet", "--message=library")
        self.tree = workshop.root / "tree"
        self.git(self.project, "worktree", "add", "--quiet", str(self.tree))
        self.environ = {
            "HOME": str(workshop.person),
            "PATH": "/usr/bin:/bin",
            "EVIL": str(self.evil),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    def git(self, folder: Path, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *BY_PERSON, *words], capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def attack(self, script: str, *, sandboxed: bool) -> None:
        argv = ["sh", "-c", script]
        if sandboxed:
            bwrap = find_bwrap()
            assert bwrap is not None, "apt install bubblewrap"
            argv = wrapper(bwrap, self.project, self.environ, self.home.path)(argv, ())
        subprocess.run(argv, cwd=self.project, env=self.environ, capture_output=True, check=False, timeout=60)

    def use_git(self) -> None:
        """What a person does next, and what prompts of shells do by themselves."""
        (self.project / "a.txt").write_text("two\n")
        for folder in (self.project, self.project / "lib", self.tree, self.project / "sub"):
            if folder.is_dir():
                for words in (
                    ["status"],
                    ["diff"],
                    ["add", "--all"],
                    ["commit", "--quiet", "--message=mine"],
                ):
                    self.git(folder, *words)
        self.git(self.project, "checkout", "--quiet", "-b", "next")
        self.git(self.project, "gc", "--quiet")

    def guard(self, *, sandboxed: bool) -> GitGuard:
        return GitGuard("arya", self.project, self.home, sandboxed=sandboxed)


@pytest.fixture
def checkout(workshop: Workshop) -> Checkout:
    return Checkout(workshop)


SETTINGS = "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tfsmonitor = $EVIL\\n"
NESTED = "git init -q sub; git -C sub -c user.name=x -c user.email=x@x commit -q --allow-empty -m s; "
ATTACKS = {
    "settings": 'git config core.fsmonitor "$EVIL"',
    "path of hooks": 'mkdir .h; printf "#!/bin/sh\\n$EVIL\\n" | tee .h/post-checkout .h/pre-commit; chmod +x .h/*; '
    "git config core.hooksPath .h",
    "included settings": f'printf "{SETTINGS}" > .more; git config include.path ../.more',
    "hook": "mkdir -p .git/hooks; "
    'printf "#!/bin/sh\\n$EVIL\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
    "hooks elsewhere": 'mkdir .h; printf "#!/bin/sh\\n$EVIL\\n" > .h/pre-commit; chmod +x .h/*; rm -rf .git/hooks; '
    "ln -s ../.h .git/hooks",
    "commondir": f'cp -r .git .evil; printf "{SETTINGS}" > .evil/config; echo ../.evil > .git/commondir',
    "commondir renamed": f'cp -r .git .evil; printf "{SETTINGS}" > .evil/config; echo ../.evil > c; cp c d; '
    "mv d .git/commondir; ln -sf ../c .git/commondir",
    "settings of a worktree": f'git config extensions.worktreeConfig true; printf "{SETTINGS}" > .git/config.worktree',
    "settings by a link": f'printf "{SETTINGS}" > .more; ln -sf ../.more .git/config',
    "another repository": f'mv .git .old; cp -r .old .git; printf "{SETTINGS}" > .git/config',
    "another by a link": f'mv .git .old; cp -r .old .evil; printf "{SETTINGS}" > .evil/config; ln -s .evil .git',
    "another by a file": f'mv .git .old; cp -r .old .evil; printf "{SETTINGS}" > .evil/config; '
    'echo "gitdir: .evil" > .git',
    "submodule": 'git -C lib config core.fsmonitor "$EVIL"',
    "commondir of a submodule": f'cp -r .git/modules/lib .evil; printf "{SETTINGS}" > .evil/config; '
    "echo ../../../.evil > .git/modules/lib/commondir",
    "file of a submodule": f'cp -r .git/modules/lib .evil; printf "{SETTINGS}" > .evil/config; '
    'rm lib/.git; echo "gitdir: ../.evil" > lib/.git',
    "worktree": f'cp -r .git .evil; printf "{SETTINGS}" > .evil/config; '
    "echo $PWD/.evil > .git/worktrees/tree/commondir",
    "nested": NESTED + 'git -C sub config core.fsmonitor "$EVIL"; git update-index --add --cacheinfo '
    "160000,$(git -C sub -c core.fsmonitor=false rev-parse HEAD),sub",
    "nested with a filter": NESTED
    + 'git -C sub config filter.x.clean "$EVIL"; echo "* filter=x" > sub/.gitattributes; '
    "touch sub/f; git add sub",
    "nested by a file": NESTED + f'mv sub/.git .elsewhere; printf "{SETTINGS}" > .elsewhere/config; '
    'echo "gitdir: ../.elsewhere" > sub/.git; '
    "git update-index --add --cacheinfo 160000,$(cat .elsewhere/refs/heads/*),sub",
    "bare": NESTED
    + f'mv sub/.git/* sub/; rmdir sub/.git; printf "{SETTINGS}\\tworktree = .\\n" > sub/config',
}


@pytest.mark.parametrize("sandboxed", [True, False], ids=["sandbox", "plain"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_git_of_a_person_runs_what_an_agent_has_left(
    checkout: Checkout, attack: str, sandboxed: bool
) -> None:
    guard = checkout.guard(sandboxed=sandboxed)
    guard.begin()
    checkout.attack(ATTACKS[attack], sandboxed=sandboxed)
    guard.end()
    checkout.ran.unlink(missing_ok=True)  # the attack uses git as well
    checkout.use_git()
    assert not checkout.ran.exists()
    assert "fatal" not in checkout.git(checkout.project, "log", "--oneline") or "another" in attack
    if not sandboxed:
        assert quarantine.notes(checkout.home), "the owner is told"


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_works_where_nobody_looks(checkout: Checkout, attack: str) -> None:
    """Else the test above would prove nothing."""
    checkout.attack(ATTACKS[attack], sandboxed=False)
    checkout.ran.unlink(missing_ok=True)
    checkout.use_git()
    assert checkout.ran.exists()


@pytest.mark.parametrize("attack", ["settings", "hook", "commondir", "commondir renamed", "another repository",
                                    "submodule", "commondir of a submodule", "worktree"])  # fmt: skip
def test_in_the_sandbox_the_repository_itself_is_closed_while_the_agent_works(
    checkout: Checkout, attack: str
) -> None:
    checkout.attack(ATTACKS[attack], sandboxed=True)
    checkout.ran.unlink(missing_ok=True)
    checkout.use_git()
    assert not checkout.ran.exists()
    assert "first" in checkout.git(checkout.project, "log", "--oneline")


def test_in_the_sandbox_an_agent_commits_in_a_plain_checkout_as_before(checkout: Checkout) -> None:
    guard = checkout.guard(sandboxed=True)
    guard.begin()
    commit = "git config --get user.name; echo 2 > b; git add b; git -c user.name=a -c user.email=a@x commit -qm second"
    checkout.attack(
        f"{commit}; git branch idea; git switch -q idea; git stash list; git gc -q", sandboxed=True
    )
    guard.end()
    assert checkout.git(checkout.project, "log", "-1", "--format=%s", "main") == "second\n"
    assert checkout.git(checkout.project, "branch", "--show-current") == "idea\n"
    assert checkout.git(checkout.project, "status", "--short") == ""
    assert quarantine.notes(checkout.home) == []


@pytest.mark.parametrize("sandboxed", [True, False], ids=["sandbox", "plain"])
@pytest.mark.parametrize("file", ["index", "COMMIT_EDITMSG", "logs/HEAD", "logs/refs/heads/main"])
def test_git_of_a_person_writes_through_no_link_of_an_agent(
    checkout: Checkout, workshop: Workshop, file: str, sandboxed: bool
) -> None:
    profile = workshop.root / "profile"
    profile.write_text("as it was\n")
    guard = checkout.guard(sandboxed=sandboxed)
    guard.begin()
    checkout.attack(f"ln -sf {profile} .git/{file}", sandboxed=sandboxed)
    assert (checkout.project / ".git" / file).is_symlink()
    guard.check()
    checkout.use_git()
    assert profile.read_text() == "as it was\n"
    [note] = quarantine.notes(checkout.home)
    assert str(checkout.project / ".git" / file) in note.sentence


def test_what_git_does_every_day_stays(checkout: Checkout, workshop: Workshop) -> None:
    guard = checkout.guard(sandboxed=False)
    guard.begin()
    git = "git -c protocol.file.allow=always -c user.name=a -c user.email=a@x"
    checkout.attack(
        f"{git} clone -q {workshop.project('library')} dep; {git} init -q fixture; {git} init -q --bare mirror.git;"
        f"{git} remote add fork https://example.invalid/x.git; {git} switch -q -c topic --track main;"
        f"{git} submodule add -q {workshop.project('library')} lib2; {git} worktree add -q ../tree2;"
        f"{git} config user.name arya; {git} sparse-checkout set lib; {git} branch -m topic2; rm -rf dep; {git} gc -q",
        sandboxed=False,
    )
    config = (checkout.project / ".git" / "config").read_text()
    assert "fork" in config
    assert "lib2" in config
    assert "topic2" in config
    guard.end()
    assert [note.sentence for note in quarantine.notes(checkout.home)] == []
    assert (checkout.project / ".git" / "config").read_text() == config


def test_what_was_there_is_put_back_and_what_came_is_kept(checkout: Checkout) -> None:
    hook = checkout.project / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    config = checkout.project / ".git" / "config"
    before = config.read_text()
    guard = checkout.guard(sandboxed=False)
    guard.begin()
    checkout.attack('echo "$EVIL" > .git/hooks/pre-commit; git config core.pager "$EVIL"', sandboxed=False)
    findings = guard.check()
    assert (hook.read_text(), hook.stat().st_mode & 0o777) == ("#!/bin/sh\nexit 0\n", 0o755)
    assert config.read_text() == before
    [note] = quarantine.notes(checkout.home)
    assert note.agent == "arya"
    kept = {one.path: Path(note.folder, one.kept).read_text() for one in findings}
    assert kept == {str(hook): f"{checkout.evil}\n", str(config): kept[str(config)]}
    assert "pager" in kept[str(config)]
    assert f"{config} has core.pager" in note.sentence
    assert guard.check() == ()


def test_what_a_program_does_after_its_turn_is_undone_when_it_ends(checkout: Checkout) -> None:
    guard = checkout.guard(sandboxed=False)
    guard.begin()
    assert guard.check() == ()
    checkout.attack(ATTACKS["commondir"], sandboxed=False)
    guard.end()
    assert not (checkout.project / ".git" / "commondir").exists()


def test_what_was_done_before_the_host_was_killed_is_undone_by_the_next(checkout: Checkout) -> None:
    checkout.guard(sandboxed=False).begin()
    checkout.attack(ATTACKS["hook"], sandboxed=False)
    guard = checkout.guard(sandboxed=False)
    guard.begin()
    guard.end()
    assert not (checkout.project / ".git" / "hooks" / "pre-commit").exists()
    assert not list((checkout.home.run / "git").iterdir())


def test_a_person_who_changes_settings_while_nobody_works_is_let_be(checkout: Checkout) -> None:
    guard = checkout.guard(sandboxed=False)
    guard.begin()
    guard.end()
    checkout.attack(ATTACKS["hook"], sandboxed=False)
    guard.begin()
    guard.end()
    assert (checkout.project / ".git" / "hooks" / "pre-commit").exists()


def test_putting_back_follows_no_link(checkout: Checkout, workshop: Workshop) -> None:
    """An agent that exchanges a folder for a link has nothing written where that leads."""
    elsewhere = workshop.project("elsewhere")
    (elsewhere / "config").write_text("a person's own\n")
    hook = checkout.project / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\n")
    guard = checkout.guard(sandboxed=False)
    guard.begin()
    checkout.attack(
        f"mv .git .old; ln -s {elsewhere} .git; mv .old/hooks .h; ln -s {elsewhere} .old/hooks",
        sandboxed=False,
    )
    guard.check()
    assert [file.name for file in elsewhere.iterdir()] == ["config"]
    assert (elsewhere / "config").read_text() == "a person's own\n"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("[core]\n\tfsmonitor = x", ["core.fsmonitor"]),
        ("[alias]\n\tst = !x", ["alias.st"]),
        ('[includeIf "gitdir:/"]\n\tpath = x', ["includeif.gitdir:/.path"]),
        ('[remote "origin"]\n\turl = elsewhere', ["remote.origin.url"]),
        ('[remote "new"]\n\turl = ext::sh -c x', ["remote.new.url"]),
        ('[remote "new"]\n\tuploadpack = x', ["remote.new.uploadpack"]),
        ('[branch "new"]\n\tremote = new\n\tmerge = refs/heads/new', []),
        ("[gc]\n\trecentObjectsHook = x", ["gc.recentobjectshook"]),
        ("[user]\n\tname = x", []),
        ("[broken", ["what git cannot read"]),
    ],
)
def test_only_harmless_settings_may_be_added(line: str, names: list[str]) -> None:
    before = '[core]\n\tbare = false\n[remote "origin"]\n\turl = here\n'
    assert added_by_stealth(before.encode(), f"{before}{line}\n".encode()) == names


@pytest.mark.parametrize("sandbox", ["bwrap", "none"])
async def test_the_owner_is_told_of_what_a_hosted_agent_did(
    checkout: Checkout, workshop: Workshop, sandbox: str
) -> None:
    workshop.agent(
        "arya", "claude", project="code", permissions="all" if sandbox == "bwrap" else "ask", sandbox=sandbox
    )
    nested = f"git init -q sub; git -C sub config core.fsmonitor {checkout.evil}"
    async with workshop.hub() as hub:
        if sandbox == "bwrap":
            await hub.ask("arya", f"! run {nested}; echo done", timeout=PATIENCE)
        else:
            await hub.ask("arya", "hello", timeout=PATIENCE)
            checkout.attack(nested, sandboxed=False)
            await hub.ask("arya", "hello again", timeout=PATIENCE)
        [row] = [row for row in (await hub.operator.now()).needs_you if row.what == "quarantine"]
        assert row.agent == "arya"
        assert f"{checkout.project}/sub/.git/config has core.fsmonitor" in str(row.error)
        assert str(row.fix[1]).startswith("rm -r ")
    checkout.use_git()
    assert not checkout.ran.exists()
