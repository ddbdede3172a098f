"""How containers end: codes, signals, reasons, and last words."""

import os

from harness.tap import has, is_
from world.record import container
from world.scene import box, ended, is_end, matches, python

from . import scene


def last_words(s, name, script, restart="Never", **more):
    """The message of a container that ran the script."""
    s.start(name, box(script, **more), restart=restart)
    return ended(s.wait_end(name)).get("message")


@scene
def exit_codes_are_told(s):
    for code in (0, 1, 2, 42, 127, 255):
        s.start(f"p{code}", f"exit {code}", gate=False)
    for code in (0, 1, 2, 42, 127, 255):
        is_end(s.wait_end(f"p{code}"), code, "Error" if code else "Completed")


@scene
def a_signal_is_128_and_its_number(s):
    signals = {"HUP": 1, "INT": 2, "KILL": 9, "SEGV": 11, "TERM": 15}
    for name in signals:
        s.start(f"p-{name.lower()}", f"kill -{name} $$; sleep 1000", gate=False)
    for name, number in signals.items():
        is_end(s.wait_phase(f"p-{name.lower()}", "Failed"), 128 + number, "Error")


@scene
def memory_over_the_limit_is_oom_killed(s):
    s.start("p", python("import time; x = bytearray(300 << 20); time.sleep(600)",
                        resources={"limits": {"memory": "64Mi"}}), gate=False)
    pod = s.wait_phase("p", "Failed")
    is_end(pod, 137, "OOMKilled")


@scene
def memory_below_the_limit_is_not(s):
    s.start("p", python("x = bytearray(30 << 20); print(len(x))", resources={"limits": {"memory": "256Mi"}}),
            gate=False)
    is_end(s.wait_phase("p", "Succeeded"), 0, "Completed")


@scene
def a_child_over_the_limit_of_its_container_is_oom_killed_too(s):
    s.start("p", box("/usr/bin/python3 -c 'import time; x = bytearray(300 << 20); time.sleep(600)'; exit $?",
                     resources={"limits": {"memory": "64Mi"}}))
    pod = s.wait_phase("p", "Failed")
    is_(ended(pod)["reason"], "OOMKilled", "reason")
    is_(ended(pod)["exitCode"], 137, "exit code")


@scene
def a_missing_program_names_the_path_that_was_searched(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": ["no-such-program-e2e"]}, gate=False)
    pod = s.wait_phase("p", "Failed")
    end = ended(pod)
    assert end["reason"] in ("StartError", "ContainerCannotRun"), end
    assert end["exitCode"] in (127, 128), end
    has(end["message"], "no-such-program-e2e", "message")
    has(end["message"], "/usr/bin", "the PATH is in it")
    s.wait_event("Failed", "no-such-program-e2e", name="p")


@scene
def a_missing_program_by_its_whole_path_is_named(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": ["/no/such/dir/program-e2e", "x"]},
            gate=False)
    end = ended(s.wait_phase("p", "Failed"))
    assert end["reason"] in ("StartError", "ContainerCannotRun"), end
    has(end["message"], "/no/such/dir/program-e2e", "message")


@scene
def a_program_at_another_place_is_found_by_its_name(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": ["/opt/conda/bin/python3", "-c", "exit(6)"]},
            gate=False)
    is_end(s.wait_phase("p", "Failed"), 6, "Error")


@scene
def a_file_that_is_no_program_is_told(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": ["/etc/passwd"]}, gate=False)
    end = ended(s.wait_phase("p", "Failed"))
    assert end["reason"] in ("StartError", "ContainerCannotRun"), end
    matches(end["message"], "(?i)permission denied", "message")


@scene(slow=True)
def a_missing_program_is_tried_again_under_always(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": ["no-such-program-e2e"]}, gate=False,
            restart="Always")
    pod = s.wait_pod("p", lambda p: container(p, "main").get("restartCount", 0) >= 1 and
                     container(p, "main")["lastState"].get("terminated"), "is tried again")
    has(container(pod, "main")["lastState"]["terminated"]["message"], "no-such-program-e2e", "why")
    s.wait_waiting("p", "CrashLoopBackOff")


@scene(level="namespaces")
def last_words_come_from_the_file(s):
    is_(last_words(s, "p", "printf 'all is well' >/dev/termination-log"), "all is well", "message")


@scene(level="namespaces")
def last_words_of_a_failure_come_from_the_file(s):
    is_(last_words(s, "p", "echo log; echo 'it broke' >/dev/termination-log; exit 1"), "it broke\n", "message")


@scene(level="namespaces")
def last_words_can_have_another_file(s):
    is_(last_words(s, "p", "echo here >/e2e-words/last", terminationMessagePath="/e2e-words/last"), "here\n",
        "message")


@scene(level="namespaces")
def last_words_are_no_longer_than_4096_bytes(s):
    words = last_words(s, "p", "head -c 10000 /dev/zero | tr '\\0' x >/dev/termination-log")
    is_(len(words), 4096, "length")


@scene
def last_words_fall_back_to_the_log(s):
    words = last_words(s, "p", "echo one; echo two >&2; exit 1", terminationMessagePolicy="FallbackToLogsOnError")
    is_(sorted(words.split()), ["one", "two"], "message")


@scene
def last_words_from_the_log_are_80_lines_and_2048_bytes(s):
    more = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    words = last_words(s, "p", "seq 1 200; exit 1", **more)
    is_(words.split(), [str(n) for n in range(121, 201)], "lines")
    words = last_words(s, "q", "head -c 5000 /dev/zero | tr '\\0' x; exit 1", **more)
    is_(len(words.strip()), 2048, "bytes")


@scene
def there_is_no_falling_back_after_success(s):
    words = last_words(s, "p", "echo fine; exit 0", terminationMessagePolicy="FallbackToLogsOnError")
    assert not words, f"message {words!r}"


@scene
def last_words_of_former_attempts_are_kept(s):
    s.start("p", box("[ -e $G/again ] && exit 0; : >$G/again; echo oh no; exit 1",
                     terminationMessagePolicy="FallbackToLogsOnError"), restart="OnFailure")
    pod = s.wait_phase("p", "Succeeded")
    is_(container(pod, "main")["lastState"]["terminated"]["message"], "oh no\n", "message of the first")


@scene
def arguments_come_as_they_were_given(s):
    code = "import sys, os; open(os.environ['G'] + '/args', 'w').write('|'.join(sys.argv[1:]))"
    s.start("p", {**python(code), "args": ["a b", "", "$HOME", "*", "ü\n", "--"]})
    s.wait_phase("p", "Succeeded")
    is_(s.read("args"), "a b||$HOME|*|ü\n|--", "arguments")
