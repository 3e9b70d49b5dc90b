"""Where somebody's code failed, as it is kept with a turn."""

from typing import Any

from moot.host.trace import MAX_FRAMES, frames


def caught(deep: int) -> BaseException:
    def fall(left: int) -> Any:
        api_key = "sk-abcdefghijklmnop"  # noqa: F841
        return fall(left - 1) if left else {}["password=hunter2"]  # type: ignore[index]

    try:
        fall(deep)
    except KeyError as error:
        return error
    raise AssertionError


def test_it_names_file_line_and_function_and_no_secret() -> None:
    told = frames(caught(1))
    assert f'File "{__file__}", line ' in told
    assert ", in fall" in told
    assert "hunter2" not in told
    assert "[redacted]" in told


def test_it_is_bounded() -> None:
    told = frames(caught(500)).splitlines()
    assert told[0].startswith("… ")
    assert sum(line.startswith("File ") for line in told) == MAX_FRAMES
