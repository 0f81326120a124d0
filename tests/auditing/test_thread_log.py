"""What a thread with a log of its own does is not in the common log; what others do is."""

from __future__ import annotations

from threading import Thread

from castwise.auditing.log import LOG, thread_log


def test_one_thread_is_aside() -> None:
    kept, losses = LOG.events, LOG.losses
    before = dict(kept)
    try:
        with thread_log() as events:
            assert events == {}
            LOG.events["mine"] = 1  # type: ignore[index, assignment]
            other = Thread(target=lambda: LOG.events.__setitem__("its", 2))  # type: ignore[index, arg-type]
            other.start()
            other.join(10)
            LOG.lost(1, "add", ("wrapped", 1, 2, "255 + 1"))
            assert events == {"mine": 1}
            assert LOG.events.get("mine") == 1  # type: ignore[call-overload]
            assert dict(LOG.events.items()) == {**before, "its": 2}
            with thread_log() as another:
                assert another is None
        assert LOG.events is kept
        assert LOG.losses is losses
        assert kept == {**before, "its": 2}
        assert (1, "add", "wrapped") not in losses
    finally:
        kept.pop("its", None)  # type: ignore[call-overload]
