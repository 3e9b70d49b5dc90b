"""Records as they go over the wire: the envelope, what is never in it, and what becomes of what is not known."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from moot.errors import BadValue
from moot.logs.kafka.address import brokers_of
from moot.logs.kafka.record import (
    MAX_RECORD_BYTES,
    Record,
    UnreadableRecord,
    decode_record,
    encode_record,
    envelope_of,
)
from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.outbox import OutboxRow

ROW = OutboxRow(
    event=12,
    topic=ParticipantId("arya"),
    call="",
    conversation=ConversationId("c1"),
    action="append",
    by=ParticipantId("user"),
    at=1_800_000_000.25,
    seq=3,
    correlation="q7",
)


def record(row: OutboxRow = ROW) -> Record:
    return Record(envelope_of(row, epoch=2, instance="i1"))


@pytest.mark.req("K-02")
def test_a_record_is_the_envelope_with_seq_epoch_and_instance() -> None:
    assert json.decode(encode_record(record())) == {
        "version": "1.0.0",
        "conversation_id": "c1",
        "agent_id": "user",
        "timestamp": "2027-01-15T08:00:00.250Z",
        "correlation_id": "q7",
        "docmem_node_id": "c1",
        "node_id": "c1:3",
        "action": "append",
        "seq": 3,
        "epoch": 2,
        "instance": "i1",
        "event": 12,
    }


def test_a_call_of_a_tool_names_the_tool_and_not_what_it_is_given() -> None:
    row = structs.replace(ROW, action="tool_invoke", tool="bash", call="call-1", seq=0)
    told = json.decode(encode_record(record(row)))
    assert told["command"] == ["bash", "call-1"]
    assert told["node_id"] == "c1"


@pytest.mark.req("K-02")
def test_what_a_later_version_adds_is_carried_and_not_dropped() -> None:
    told = {**json.decode(encode_record(record())), "action": "applaud", "mood": {"happy": [1, None]}}
    found = decode_record(json.encode(told))
    assert found.envelope.action == "applaud"
    assert found.more == {"mood": {"happy": [1, None]}}
    assert json.decode(encode_record(found)) == told


def test_a_record_stays_below_its_limit_whatever_a_caller_calls_its_question() -> None:
    long = structs.replace(ROW, correlation="ö" * 2000)
    assert len(encode_record(record(long))) <= MAX_RECORD_BYTES
    assert decode_record(encode_record(record(long))).envelope.seq == 3


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'"text"',
        b"[" * 3000,
        json.encode({**json.decode(encode_record(record())), "version": "2.0.0"}),
        json.encode({**json.decode(encode_record(record())), "seq": "three"}),
        json.encode({**json.decode(encode_record(record())), "more": "x" * MAX_RECORD_BYTES}),
    ],
)
def test_what_is_no_record_says_so(value: bytes | None) -> None:
    with pytest.raises(UnreadableRecord):
        decode_record(value)


@given(st.binary(max_size=200))
def test_no_bytes_whatever_break_the_reader(value: bytes) -> None:
    with suppress(UnreadableRecord):
        decode_record(value)


def test_options_of_the_connection_are_passed_through_and_never_shown() -> None:
    url = "kafka://a:9093,b:9093?security.protocol=SASL_SSL&sasl.mechanism=PLAIN&sasl.password=hush%26"
    brokers = brokers_of(url)
    told = brokers.client()
    assert told["bootstrap.servers"] == "a:9093,b:9093"
    assert (told["security.protocol"], told["sasl.password"]) == ("SASL_SSL", "hush&")
    assert "hush" not in brokers.shown


def test_an_option_that_is_none_of_the_connection_is_refused_by_its_name() -> None:
    with pytest.raises(BadValue, match=r"enable\.idempotence"):
        brokers_of("kafka://a:9092?enable.idempotence=false")
