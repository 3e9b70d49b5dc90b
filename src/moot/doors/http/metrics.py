"""What an operator watches: requests and their duration, streams, refusals. No label grows with the number of users."""

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from moot.hub.telemetry.vitals import Vitals
from moot.model.records.outbox import LogFigures

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Meters:
    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        names = ["method", "path", "status"]
        self._requests = Counter("moot_http_requests", "Requests answered", names, registry=registry)
        self._seconds = Histogram(
            "moot_http_request_seconds", "Response time", ["path"], registry=registry, buckets=QUICK
        )
        self._of_request: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        """Looking them up by their labels takes longer than counting."""
        self._lagged = Counter("moot_streams_lagged", "Streams closed on slow readers", registry=registry)
        self._streams = Gauge("moot_streams", "Open event streams", registry=registry)
        self._position = Gauge("moot_position", "Position of the newest event", registry=registry)
        self._live = Gauge("moot_agents_live", "Agents that are hosted by a process", registry=registry)
        self._open = Gauge(
            "moot_turns_unsettled", "Turns that are waiting, ready, held or running", registry=registry
        )

        self._batch_seconds = Histogram(
            "moot_store_batch_seconds", "Time to decide, write and commit", registry=registry, buckets=QUICK
        )
        self._batch_size = Histogram(
            "moot_store_batch_size", "Commands committed together", registry=registry, buckets=SIZES
        )
        self._failures = Counter("moot_store_failures", "Batches that could not be stored", registry=registry)
        self._shares = Gauge("moot_shares_held", "Parts of agents that this process has", registry=registry)
        self._leads = Gauge(
            "moot_config_leader", "1 where this hub's moot.toml says which links there are", registry=registry
        )

        self._views = Gauge("moot_views_open", "Conversations that are kept in memory", registry=registry)
        self._noticed = Gauge(
            "moot_view_records", "Records of messages: gap, repeat, late", ["what"], registry=registry
        )
        self._mended = Gauge(
            "moot_views_mended", "Views that were not the store's, and were read again", registry=registry
        )

    def watch(self, vitals: Vitals) -> None:
        vitals.watch_batches(self._on_write)
        if vitals.views is not None:
            views, counts = vitals.views, vitals.views.counts
            self._views.set_function(lambda: len(views))
            self._noticed.labels("gap").set_function(lambda: counts.gaps)
            self._noticed.labels("repeat").set_function(lambda: counts.repeats)
            self._noticed.labels("late").set_function(lambda: counts.late)
            self._mended.set_function(lambda: counts.mended)
        if vitals.log_figures() is not None:
            self._watch_log(lambda: vitals.log_figures() or LogFigures())
        self._shares.set_function(lambda: vitals.shares_held)
        self._leads.set_function(lambda: float(vitals.leads))

    def _watch_log(self, figures: Callable[[], LogFigures]) -> None:
        """Only where there is a log outside: without one there is nothing to be behind with."""
        gauges: dict[str, tuple[str, Callable[[], float]]] = {
            "moot_outbox_rows": ("Rows that wait to be published", lambda: figures().waiting),
            "moot_outbox_oldest_seconds": (
                "How long the oldest of them has waited",
                lambda: figures().oldest_seconds,
            ),
            "moot_relay_fence": ("Rises when another process publishes", lambda: figures().fence),
            "moot_relay_held": ("1 where this hub publishes", lambda: float(figures().publishes)),
            "moot_log_unread": ("Records that this hub has not read yet", lambda: figures().unread),
            "moot_topics_stopped": (
                "Topics that cannot be used; see moot kafka status",
                lambda: figures().stopped,
            ),
        }
        for name, (help, value) in gauges.items():
            Gauge(name, help, registry=self._registry).set_function(value)
        passed_over = Gauge(
            "moot_log_passed_over",
            "Records that said nothing: foreign, unreadable",
            ["why"],
            registry=self._registry,
        )
        passed_over.labels("foreign").set_function(lambda: figures().foreign)
        passed_over.labels("unreadable").set_function(lambda: figures().unreadable)

    def _on_write(self, commands: int, seconds: float, failed: bool) -> None:
        self._batch_seconds.observe(seconds)
        self._batch_size.observe(commands)
        if failed:
            self._failures.inc()

    def count_answer(self, method: str, path: str, status: int, seconds: float) -> None:
        of_request = self._of_request.get((method, path, status))
        if of_request is None:
            of_request = self._requests.labels(method, path, str(status)), self._seconds.labels(path)
            self._of_request[method, path, status] = of_request
        count, duration = of_request
        count.inc()
        duration.observe(seconds)

    def count_lag(self) -> None:
        self._lagged.inc()

    def count_streams(self, count: Callable[[], int]) -> None:
        self._streams.set_function(count)

    def render(self, *, position: int, live: int, open_turns: int) -> tuple[bytes, str]:
        self._position.set(position)
        self._live.set(live)
        self._open.set(open_turns)
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
