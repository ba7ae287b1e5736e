"""One BLAS thread while models are trained and scored.

A product that BLAS splits among threads sums in another order, so the last bits would depend on
how many threads a process may use: 2 in a script, 1 in a worker. Parallelism is over models.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_entered = 0
_limiter: Any = None


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; nested and concurrent uses restore it when the last has ended."""
    global _entered, _limiter
    with _lock:
        if _entered == 0:
            _limiter = _controller().limit(limits=1, user_api="blas")
        _entered += 1
    try:
        yield
    finally:
        with _lock:
            _entered -= 1
            if _entered == 0:
                _limiter.restore_original_limits()
