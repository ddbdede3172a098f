"""Much of it, and nasty ones."""

from harness.tap import is_
from world.record import phase
from world.scene import STAY, box

from . import scene


@scene
def many_pods_at_once_all_end(s):
    names = [f"p{i}" for i in range(40)]
    for name in names:
        s.start(name, "exit 0", gate=False)
    for name in names:
        s.wait_phase(name, "Succeeded", timeout=120)
    is_(len({c.obj["metadata"]["uid"] for n in names for c in s.history(n)}), 40, "pods")


@scene
def a_pod_may_have_many_containers(s):
    s.start("p", *[box(f"exit {i}", f"c{i}") for i in range(20)], init=[box("exit 0", f"i{i}") for i in range(5)],
            gate=False)
    pod = s.wait_phase("p", "Failed", timeout=120)
    is_(sorted(c["state"]["terminated"]["exitCode"] for c in pod["status"]["containerStatuses"]), list(range(20)),
        "exit codes")


@scene
def a_great_environment_arrives(s):
    s.config("c", data={f"K{i}": "x" * 10000 for i in range(50)})
    s.start("p", box("env | grep -c ^K[0-9] | say count; env | wc -c | say size", envFrom=[{"configMapRef": {"name": "c"}}]))
    is_(s.read("count").strip(), "50", "variables")
    assert int(s.read("size")) > 500000, "bytes of them"


@scene(level="namespaces")
def who_kills_everybody_kills_itself(s):
    s.start("other", STAY)
    s.wait_ready("other")
    s.start("p", "[ $(ls /proc | grep -c '^[0-9]') -lt 20 ] && kill -KILL -1; exit 3")
    s.wait_phase("p", "Failed")
    is_(phase(s.now("other")), "Running", "the others")


@scene
def who_closes_its_output_runs_on(s):
    s.start("p", "exec >&- 2>&-; await go; exit 3")
    s.wait_ready("p")
    s.open("go")
    is_(s.wait_phase("p", "Failed")["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 3, "exit code")


@scene
def a_child_that_holds_the_output_does_not_hold_up_the_end(s):
    mark = s.mark(6)
    s.start("p", f"setsid sleep {mark} & exit 0")
    s.wait_phase("p", "Succeeded")
    s.until(lambda: not s.alive(mark), "it ended, too")


@scene
def a_pod_nobody_could_run_is_told(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": [""]}, gate=False)
    s.wait_phase("p", "Failed")
    s.start("q", {"name": "main", "image": "example.com/e2e:1", "command": ["/"]}, gate=False)
    s.wait_phase("q", "Failed")


@scene
def who_writes_much_is_read(s):
    s.start("p", "seq 1 1500000; echo end", gate=False)
    s.wait_phase("p", "Succeeded", timeout=120)
    is_(s.log("p", tailLines=1), "end\n", "its last line")
