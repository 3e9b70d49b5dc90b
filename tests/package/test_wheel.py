"""What is given away: a wheel with the page in it, made and used on a machine that has no Node."""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.support.waiting import PATIENCE
from tools import page

# A build of the page, or npm finding out that nobody answers, takes as long as it takes; each step has its own limit.
pytestmark = pytest.mark.timeout(600)
ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py", "tools/page.py")
SKIPPED = shutil.ignore_patterns("node_modules", "_web", "__pycache__")
NO_NODE = "/nonexistent"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The project without anything that was built in it."""
    folder = tmp_path / "moot"
    for name in NEEDED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("src", "dashboard"):
        shutil.copytree(ROOT / name, folder / name, ignore=SKIPPED)
    return folder


@pytest.fixture
def without_node(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has everything but Node."""
    folders = os.environ["PATH"].split(os.pathsep)
    kept = tmp_path / "bin"
    kept.mkdir()
    for folder in reversed(folders):
        for program in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if program.name not in ("node", "nodejs", "npm", "npx", "corepack"):
                (kept / program.name).unlink(missing_ok=True)
                (kept / program.name).symlink_to(program)
    environ = {**os.environ, "PATH": str(kept)}
    environ.pop("MOOT_WITHOUT_PAGE", None)
    assert shutil.which("node", path=str(kept)) is None
    return environ


@pytest.fixture
def hub(tmp_path: Path, source: Path, without_node: dict[str, str]) -> Iterator[str]:
    """`moot up` as installed from the wheel; its address."""
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(source)]
    done = subprocess.run(command, env=without_node, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    [wheel] = tmp_path.glob("*.whl")
    installed, home = tmp_path / "installed", tmp_path / "home"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(installed)
    home.mkdir(mode=0o700)
    (home / "moot.toml").write_text("[hub]\nport = 0\n")
    environ = {**without_node, "PYTHONPATH": str(installed)}
    started = [sys.executable, "-m", "moot", "--home", str(home), "up", "--json"]
    process = subprocess.Popen(started, env=environ, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    yield msgspec.json.decode(process.stdout.readline())["url"]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


@pytest.mark.req("P-02")
def test_a_wheel_that_was_made_without_node_serves_the_page_without_node(hub: str) -> None:
    with urllib.request.urlopen(f"{hub}/", timeout=PATIENCE) as answer:
        document = answer.read().decode()
        assert answer.status == 200
    scripts = re.findall(r'src="(/assets/[^"]+\.js)"', document)
    assert scripts
    assert "__MOOT_NONCE__" not in document
    for script in scripts:
        with urllib.request.urlopen(f"{hub}{script}", timeout=PATIENCE) as answer:
            assert answer.headers["Content-Type"].startswith("text/javascript")
            assert "immutable" in answer.headers["Cache-Control"]


def test_what_is_built_is_not_built_again_until_something_changes(source: Path) -> None:
    web = source / "src" / "moot" / "_web"
    web.mkdir()
    assert not page.is_built(source)
    (web / "index.html").write_text("")
    (web / page.STAMP).write_text(page.digest(source))
    assert page.is_built(source)
    (source / "dashboard" / "src" / "new.ts").write_text("export {}")
    assert not page.is_built(source)


def test_where_the_registry_cannot_be_reached_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: Path
) -> None:
    found = page.node()
    if found is None:
        found = page.install_node(lambda text: None)
    monkeypatch.setattr(page, "ROOT", source)
    monkeypatch.setattr(page, "is_built", lambda: False)
    monkeypatch.setattr(page, "node", lambda: found)
    for name, value in (
        ("registry", "http://127.0.0.1:9/"),
        ("fetch_retries", "0"),
        ("cache", str(source / "c")),
    ):
        monkeypatch.setenv(f"npm_config_{name}", value)
    assert page.main(["--or-without"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1].startswith("the page was not built: the npm registry could not be reached")
    assert "everything else works without it" in told[-1]
    assert page.main([]) == 1
