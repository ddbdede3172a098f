"""Test Anything Protocol for functions named as claims. They run side by side, each line is written
when its test is done; what a failed one has to say follows as comments."""

import concurrent.futures
import sys
import threading
import time
import traceback

_lock = threading.Lock()


class Skip(Exception):
    """Raised by a test that cannot be run here; its text says why."""


class Tap:
    def __init__(self):
        self.done = 0
        self.failed = 0

    def line(self, ok, name, comment="", skip=None, seconds=0):
        with _lock:
            self.done += 1
            self.failed += not ok
            tail = f" # SKIP {skip}" if skip else ""
            print(f"{'ok' if ok else 'not ok'} {self.done} - {name}{tail}")
            if seconds > 5 and not skip:
                print(f"# {name}: {seconds:.1f} s")
            for text in comment.rstrip().splitlines():
                print("#", text)
            sys.stdout.flush()

    def note(self, text):
        """Told, and not counted."""
        with _lock:
            print("#", text.rstrip().replace("\n", "\n# "), flush=True)

    def run(self, name, test, *args):
        start = time.monotonic()
        try:
            test(*args)
        except Skip as s:
            self.line(True, name, skip=str(s))
        except Exception as e:  # pylint: disable=broad-except # whatever it is, it is told
            extra = getattr(e, "report", "")
            self.line(False, name, traceback.format_exc() + extra, seconds=time.monotonic() - start)
        else:
            self.line(True, name, seconds=time.monotonic() - start)

    def run_all(self, tests, width=8):
        """tests: (name, function, arguments...)"""
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            for f in [pool.submit(self.run, *t) for t in tests]:
                f.result()

    def end(self):
        print(f"1..{self.done}", flush=True)
        sys.exit(1 if self.failed else 0)


def claim(function):
    """"a job of one worker succeeds" out of a_job_of_one_worker_succeeds."""
    return function.__name__.replace("_", " ")


def is_(got, want, what):
    if got != want:
        raise AssertionError(f"{what}\n     got: {got!r}\nexpected: {want!r}")


def has(text, part, what):
    if part not in text:
        raise AssertionError(f"{what}\n     got: {text!r}\nexpected in it: {part!r}")
