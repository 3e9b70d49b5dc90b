"""`moot doctor cli`: what is wrong with the coding CLIs that agents are, and what mends it."""

from moot.cli.run.doctor_clis import coding_clis
from tests.coding.workshop import Workshop


async def said(workshop: Workshop) -> list[tuple[str, str, str]]:
    workshop.write()
    return [(line.state, line.text, line.fix) for line in await coding_clis(workshop.home)]


async def test_one_that_is_too_old_or_lacks_a_flag_or_a_login_is_named_with_what_mends_it(
    workshop: Workshop,
) -> None:
    workshop.agent("arya", "claude")
    flags = "--input-format --strict-mcp-config --setting-sources --permission-mode --session-id"
    workshop.script("claude", 'test "$1" = --version && echo "1.0.5 (Claude Code)"')
    [(state, text, fix)] = await said(workshop)
    assert (state, fix) == ("bad", "npm install -g @anthropic-ai/claude-code")
    assert text == "arya: claude 1.0.5; 2.1.259 or newer is needed"
    workshop.script("claude", 'case "$1" in --version) echo 2.1.326;; *) echo --input-format;; esac')
    [(state, text, _)] = await said(workshop)
    assert state == "bad"
    assert "does not know --strict-mcp-config" in text
    workshop.script("claude", f'case "$1" in --version) echo 2.1.326;; *) echo {flags};; esac')
    [(state, text, fix)] = await said(workshop)
    assert (state, fix) == ("warn", "claude, and there /login")
    (workshop.person / ".claude").mkdir()
    (workshop.person / ".claude" / ".credentials.json").touch()
    [(state, text, _)] = await said(workshop)
    assert state == "ok"
    assert text.startswith("arya: claude 2.1.326 in ")


async def test_one_that_is_not_installed_is_named(workshop: Workshop) -> None:
    workshop.agent("arya", "acp:nosuchcli acp")
    [(state, text, fix)] = await said(workshop)
    assert (state, fix) == ("bad", "install nosuchcli")
    assert text == "arya: nosuchcli is not installed, or not on the PATH"


async def test_without_agents_that_are_clis_it_says_which_are_installed(workshop: Workshop) -> None:
    [(state, text, _)] = await said(workshop)
    assert (state, text) == ("ok", "no agent is a coding CLI; installed: claude, codex")
