"""Progress of a fit: a tqdm bar where tqdm is installed, else one line that is redrawn. Nothing without a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any


def _somebody_looks() -> bool:
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None and "IPKernelApp" in shell.config:
            return True
    return sys.stderr is not None and sys.stderr.isatty()


def progress_of(verbose: int, title: str) -> Any:
    """An object with `update(done, total, clusters, log_joint)` and `close()`, or None for silence."""
    if not verbose or not _somebody_looks():
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(title)
    return _Bar(tqdm(desc=title, unit="sweep", unit_scale=True, dynamic_ncols=True))


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def update(self, done: int, total: int, clusters: float, log_joint: float) -> None:
        if done:
            self._bar.total = total or None
            self._bar.set_postfix(clusters=f"{clusters:.0f}", log_joint=f"{log_joint:.1f}", refresh=False)
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Line:
    def __init__(self, title: str) -> None:
        self._title, self._last = title, 0.0

    def update(self, done: int, total: int, clusters: float, log_joint: float) -> None:
        now = time.monotonic()
        if done and (done == total or now - self._last > 0.2):
            self._last = now
            part = f"{100 * done // total} %, {done}/{total}" if total else f"{done}"
            sys.stderr.write(
                f"\r\033[K{self._title}: {part} sweeps, {clusters:.0f} clusters, log joint {log_joint:.1f}"
            )
            sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")
