"""The head of an answer and the beginning of its body go out in one write, and nothing is held longer than a step."""

import asyncio
from typing import cast

from moot.doors.http.wire.answer_transport import AnswerTransport


class Connection:
    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.written.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def answering() -> tuple[AnswerTransport, Connection]:
    connection = Connection()
    return AnswerTransport(cast(asyncio.Transport, connection), asyncio.get_running_loop()), connection


async def test_a_head_and_its_body_are_one_write() -> None:
    answer, connection = answering()
    answer.write(b"head")
    assert connection.written == []
    answer.write(b"body")
    assert connection.written == [b"headbody"]
    await asyncio.sleep(0)
    assert connection.written == [b"headbody"]


async def test_a_head_without_a_body_goes_out_at_the_end_of_the_step() -> None:
    answer, connection = answering()
    answer.write(b"head")
    await asyncio.sleep(0)
    assert connection.written == [b"head"]
    answer.write(b"one")
    answer.write(b"two")
    assert connection.written == [b"head", b"one", b"two"], "what comes later is not held"


async def test_what_is_held_goes_out_before_the_end() -> None:
    answer, connection = answering()
    answer.write(b"head")
    answer.close()
    assert (connection.written, connection.closed, answer.is_closing()) == ([b"head"], True, True)
    await asyncio.sleep(0)
    assert connection.written == [b"head"]


async def test_nothing_is_written_to_a_connection_that_was_closed_meanwhile() -> None:
    answer, connection = answering()
    answer.write(b"head")
    connection.close()
    await asyncio.sleep(0)
    assert connection.written == []


async def test_an_answer_that_never_began_closes_without_a_word() -> None:
    answer, connection = answering()
    answer.close()
    assert (connection.written, connection.closed) == ([], True)
