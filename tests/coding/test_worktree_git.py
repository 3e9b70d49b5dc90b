"""Git in a worktree behind the wall: it works there, and an agent cannot reach the repository through it."""

import asyncio
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from moot.brains.command.cli_sandbox import SandboxWrap, find_bwrap, wrapper
from moot.brains.command.worktree_git import GitFailed, LinkedWorktree, find_worktree, store_of
from moot.hub.process import worktrees
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("J-09")

BY_PERSON = ("-c", "user.name=p", "-c", "user.email=p@x")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *BY_PERSON, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout.strip()


class Checkout:
    """An agent's worktree of a repository, and a shell behind the wall in it."""

    def __init__(self, workshop: Workshop, place: Path, repository: Path) -> None:
        self.home, self.place, self.repository = workshop.home, place, repository
        self.common = repository / ".git"
        bwrap = find_bwrap()
        assert bwrap is not None, "apt install bubblewrap"
        environ = {"HOME": str(workshop.person), "PATH": "/usr/bin:/bin"}
        self.wall: SandboxWrap = wrapper(bwrap, place, environ, workshop.home.path, self.worktree)
        self.environ = environ

    @property
    def worktree(self) -> LinkedWorktree:
        found = find_worktree(self.place, self.home)
        assert found is not None
        return found

    @property
    def store(self) -> Path:
        return store_of(self.home, "arya")

    def run(self, script: str) -> str:
        done = subprocess.run(
            self.wall(["sh", "-c", script], ()),
            env=self.environ, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return done.stdout + done.stderr

    def snapshot(self) -> dict[str, bytes]:
        """Everything in the repository but what is the worktree's own."""
        own = self.common / "worktrees"
        found = [file for file in self.common.rglob("*") if not file.is_relative_to(own)]
        return {str(file): file.read_bytes() if file.is_file() else b"" for file in found}


@pytest.fixture
async def checkout(workshop: Workshop) -> Checkout:
    repository = workshop.project("code")
    git(repository, "init", "--quiet", "--initial-branch=main")
    (repository / "a.txt").write_text("one\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=first")
    place = await worktrees.make(workshop.home, "arya", repository)
    return Checkout(workshop, place, repository)


COMMIT = "echo two > b.txt; git add b.txt && git commit -q -m second"


async def test_an_agent_looks_stages_and_commits_in_its_worktree(checkout: Checkout) -> None:
    seen = checkout.run(
        f"git status --short --branch; {COMMIT}; echo three > a.txt; git diff; git log --format=%an:%s"
    )
    assert "## moot/arya" in seen
    assert "+three" in seen
    assert "arya:second" in seen
    assert "p:first" in seen
    before = git(checkout.repository, "rev-parse", "main")
    checkout.worktree.take_over()
    assert git(checkout.repository, "log", "--format=%s", "moot/arya").split() == ["second", "first"]
    assert git(checkout.repository, "rev-parse", "main") == before
    assert git(checkout.place, "status", "--short") == "M a.txt"
    assert git(checkout.repository, "fsck", "--full", "--strict") == ""


async def test_what_is_staged_can_be_committed_outside_too(checkout: Checkout) -> None:
    checkout.run("echo staged > c.txt; git add c.txt")
    checkout.worktree.take_over()
    git(checkout.place, "commit", "--quiet", "--message=by a person")
    assert git(checkout.repository, "show", "moot/arya:c.txt") == "staged"
    assert checkout.run("git log --format=%s -1") == "by a person\n"


async def test_an_agent_amends_and_goes_on_over_several_starts(checkout: Checkout) -> None:
    for words in (COMMIT, "git commit -q --amend -m better", "git commit -q --allow-empty -m third"):
        assert checkout.run(words) == ""
        checkout.worktree.take_over()
    assert git(checkout.repository, "log", "--format=%s", "moot/arya").split() == ["third", "better", "first"]
    assert git(checkout.repository, "branch", "--format=%(refname:short)").split() == ["main", "moot/arya"]


ATTACKS = {
    "hook": "echo 'touch pwned' > {common}/hooks/post-checkout; chmod +x {common}/hooks/post-checkout",
    "settings": "git config core.fsmonitor 'touch pwned'; echo '[core]' >> {common}/config",
    "settings of a worktree": "git config extensions.worktreeConfig true; echo '[core]' > {admin}/config.worktree",
    "another repository": "mkdir -p evil; echo $PWD/evil > {admin}/commondir",
    "the way back": "echo /elsewhere/.git > {admin}/gitdir",
    "another link": "mv .git old; echo 'gitdir: evil' > .git; rm -f .git",
    "another admin folder": "mv {admin} {admin}2; rm -rf {common}/worktrees",
    "objects": "rm -rf {common}/objects/*; chmod -R u+w {common}/objects; mv {common}/objects {common}/o2",
    "objects elsewhere": "rm -rf /tmp/.moot-objects/*; echo x > /tmp/.moot-objects/x",
    "alternates": "mv {common}/objects/info {common}/objects/i2; echo /etc > {common}/objects/info/alternates",
    "refs": "rm -rf {common}/refs/heads/main; git update-ref refs/heads/main HEAD; git tag evil; mv {common}/refs x",
    "packed refs": "git pack-refs --all; echo x > {common}/packed-refs",
    "the whole": "rm -rf {common}",
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_nothing_of_the_repository_is_changed(checkout: Checkout, attack: str) -> None:
    admin = checkout.common / "worktrees" / "arya"
    checkout.run("true")  # folders that Moot makes in the repository are there
    before = checkout.snapshot()
    links = [(admin / name).read_text() for name in ("commondir", "gitdir")]
    checkout.run(ATTACKS[attack].format(common=checkout.common, admin=admin))
    assert checkout.snapshot() == before
    assert [(admin / name).read_text() for name in ("commondir", "gitdir")] == links
    assert (checkout.place / ".git").read_text() == f"gitdir: {admin}\n"
    if (admin / "HEAD").exists():  # it may have broken its own
        assert git(checkout.place, "status", "--short") in ("", "?? evil/", "?? x/", "?? pwned")
    assert git(checkout.repository, "rev-parse", "main")


async def test_a_branch_of_others_that_an_agent_moves_comes_under_its_own_name(checkout: Checkout) -> None:
    before = git(checkout.repository, "rev-parse", "main")
    checkout.run(
        f"{COMMIT}; git branch -f main HEAD; git switch -q -c idea; git commit -q --allow-empty -m idea"
    )
    checkout.worktree.take_over()
    assert git(checkout.repository, "rev-parse", "main") == before
    assert git(checkout.repository, "log", "-1", "--format=%s", "moot/arya") == "second"
    assert git(checkout.repository, "log", "-1", "--format=%s", "moot-arya/idea") == "idea"


async def test_an_object_that_is_forged_is_not_taken(checkout: Checkout) -> None:
    """Git does not look whether what it reads has the name under which it is stored."""
    forge = (
        "good=$(echo good | git hash-object -w --stdin); bad=$(echo bad | git hash-object -w --stdin); o={objects};"
        "git update-index --add --cacheinfo 100644,$good,b.txt; git commit -q -m forged;"
        "file() {{ echo $o/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }};"
        "chmod u+w $(file $good); cat $(file $bad) > $(file $good); git rev-parse HEAD"
    )
    forged = checkout.run(forge.format(objects=checkout.common / "objects")).strip()
    assert len(forged) == 40
    with pytest.raises(GitFailed):
        checkout.worktree.take_over()
    assert git(checkout.repository, "log", "-1", "--format=%s", "moot/arya") == "first"
    with pytest.raises(AssertionError, match="could not get object info"):
        git(checkout.repository, "cat-file", "-t", forged)


async def test_what_cannot_be_taken_over_keeps_a_worktree_from_being_cleared_away(checkout: Checkout) -> None:
    checkout.run(f"git switch -q -c idea; {COMMIT}; git switch -q moot/arya; git rev-parse idea")
    commit = (checkout.store / "refs" / "heads" / "idea").read_text().strip()
    (checkout.store / "objects" / commit[:2] / commit[2:]).chmod(0o600)
    (checkout.store / "objects" / commit[:2] / commit[2:]).write_bytes(b"broken")
    for now in (0.0, worktrees.SALVAGED_AFTER + 1):
        left = await worktrees.clear(checkout.home, "arya", now)
        assert left is not None
        assert left.why == "git cannot take over what was committed in it"
    assert checkout.store.exists()


async def test_a_link_among_its_refs_leads_moot_nowhere(checkout: Checkout, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    git(checkout.repository, "tag", "v1")
    checkout.run(f"rm -rf {checkout.common}/refs/tags; ln -s {target} {checkout.common}/refs/tags")
    checkout.run("git status")
    checkout.worktree.take_over()
    assert list(target.iterdir()) == []


async def test_a_folder_that_names_another_repository_is_no_worktree_of_it(
    checkout: Checkout, workshop: Workshop
) -> None:
    forged = workshop.project("forged")
    (forged / ".git").write_text(f"gitdir: {checkout.common / 'worktrees' / 'arya'}\n")
    assert find_worktree(forged, workshop.home) is None
    inside = forged / "evil" / "worktrees" / "x"
    inside.mkdir(parents=True)
    (forged / "evil" / "refs").mkdir()
    (forged / ".git").write_text(f"gitdir: {inside}\n")
    (inside / "gitdir").write_text(f"{forged / '.git'}\n")
    (inside / "commondir").write_text("../..\n")
    assert find_worktree(forged, workshop.home) is None, "what it could write itself is not mounted"
    assert find_worktree(workshop.project("code"), workshop.home) is None


async def test_in_a_worktree_of_a_persons_own_git_looks_and_a_folder_of_it_shows_no_other(
    checkout: Checkout, workshop: Workshop
) -> None:
    own = workshop.root / "own"
    git(checkout.repository, "worktree", "add", "--quiet", "-b", "feature", str(own))
    (own / "part").mkdir()
    assert find_worktree(own / "part", workshop.home) is None
    checkout.place = own
    before = checkout.snapshot()
    bwrap = find_bwrap()
    assert bwrap is not None
    checkout.wall = wrapper(bwrap, own, checkout.environ, workshop.home.path, checkout.worktree)
    seen = checkout.run(f"git status --short --branch; git log --format=%s; {COMMIT}")
    assert "## feature" in seen
    assert "first" in seen
    assert "Read-only file system" in seen
    assert checkout.snapshot() == before


async def test_the_repository_of_a_plain_checkout_cannot_be_exchanged(workshop: Workshop) -> None:
    project = workshop.project("plain")
    git(project, "init", "--quiet")
    git(project, "config", "extensions.worktreeConfig", "true")
    (project / ".git" / "hooks").rename(project / "hooks-of-a-template")
    bwrap = find_bwrap()
    assert bwrap is not None
    environ = {"HOME": str(workshop.person), "PATH": "/usr/bin:/bin"}
    wall = wrapper(bwrap, project, environ, workshop.home.path)
    script = "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout; "
    script += "echo evil >> .git/config; echo evil > .git/config.worktree"
    await asyncio.to_thread(subprocess.run, wall(["sh", "-c", script], ()), env=environ, check=False)
    assert not (project / "old").exists()
    assert not (project / ".git" / "hooks" / "post-checkout").exists()
    assert "evil" not in (project / ".git" / "config").read_text()
    assert (project / ".git" / "config.worktree").read_text() == ""


async def test_a_hosted_agent_commits_and_its_branch_has_it_when_it_has_answered(
    checkout: Checkout, workshop: Workshop
) -> None:
    workshop.agent("arya", "claude", permissions="all", sandbox="bwrap")
    workshop.rows[-1] = workshop.rows[-1].replace(str(workshop.project("arya")), str(checkout.place))
    async with workshop.hub() as hub:
        await hub.ask("arya", f"! run {COMMIT}; echo done", timeout=PATIENCE)
        assert git(checkout.repository, "log", "-1", "--format=%s", "moot/arya") == "second"
    assert git(checkout.place, "status", "--short") == ""


async def test_a_worktree_whose_work_is_merged_goes_with_what_covered_its_repository(
    checkout: Checkout, workshop: Workshop
) -> None:
    checkout.run(COMMIT)  # and the host is killed before it has taken it over
    left = await worktrees.clear(workshop.home, "arya", 0.0)
    assert left is not None
    assert left.why == "1 commits are on no other branch"
    git(checkout.repository, "merge", "--quiet", "moot/arya")
    assert await worktrees.clear(workshop.home, "arya", 0.0) is None
    assert not checkout.place.exists()
    assert not checkout.store.exists()


@pytest.mark.parametrize("part", ["every folder", "pack"])
async def test_a_link_among_its_objects_brings_nothing_of_another_repository(
    checkout: Checkout, tmp_path: Path, part: str
) -> None:
    """Behind the wall the other repository cannot be seen; the host, which copies the objects, sees it."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    (other / "secret.txt").write_text("a secret of another project\n")
    git(other, "add", "--all")
    git(other, "commit", "--quiet", "--message=secret")
    secret = git(other, "rev-parse", "HEAD:secret.txt")
    objects = checkout.common / "objects"
    if part == "pack":
        git(other, "gc", "--quiet")
        names = "pack"
    else:
        names = " ".join(f"{number:02x}" for number in range(256))
    assert "No such file" in checkout.run(f"ls {other}")
    checkout.run(f"cd {objects}; for x in {names}; do rmdir $x; ln -s {other}/.git/objects/$x $x; done")
    with suppress(GitFailed):
        checkout.worktree.take_over()
    assert "a secret" not in checkout.run(f"git cat-file -p {secret}")


@pytest.mark.parametrize("file", ["logs/HEAD", "COMMIT_EDITMSG"])
async def test_a_link_in_its_own_folder_leads_nobody_outside_who_commits_later(
    checkout: Checkout, tmp_path: Path, file: str
) -> None:
    """What a person, or Moot when it keeps the rest of the work, writes there would go where the link leads."""
    outside = tmp_path / "profile"
    outside.write_text("as it was\n")
    own = checkout.worktree.admin
    checkout.run(f"{COMMIT}; ln -sf {outside} {own / file}")
    assert (own / file).is_symlink()
    checkout.worktree.take_over()
    (checkout.place / "a.txt").write_text("by a person\n")
    git(checkout.place, "commit", "--quiet", "--all", "--message=by a person")
    assert outside.read_text() == "as it was\n"
    assert git(checkout.place, "log", "--format=%s", "-1") == "by a person"
