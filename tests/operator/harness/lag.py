"""How slow the machine is: who sleeps for a moment sees how late it is woken. What is said to happen within
some seconds may take longer on a machine that is busy with other things."""

import threading
import time

NAP_S = 0.02
REMEMBERED_S = 120
MOST = 12.0


class _Lag(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.late = []  # (when, seconds late), of the last two minutes
        self.lock = threading.Lock()
        self.start()

    def run(self):
        while True:
            began = time.monotonic()
            time.sleep(NAP_S)
            now = time.monotonic()
            late = now - began - NAP_S
            with self.lock:
                while self.late and self.late[0][0] < now - REMEMBERED_S:
                    self.late.pop(0)
                if late > 0.03:
                    self.late.append((now, late))

    def worst(self):
        with self.lock:
            return max((late for _, late in self.late), default=0)


_lag = _Lag()


def patience(seconds):
    """How long to wait here for what takes up to that long on a machine that has time."""
    return seconds * min(factor(), 3)


def factor():
    """1 on a machine that has time, more on one that has not."""
    return min(1 + 15 * _lag.worst(), MOST)
