"""pods/exec and pods/log with the Python client of Debian: execs.py KUBECONFIG POD. Prints ok LINES."""

import sys

from kubernetes import client, config
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream


def main():
    config.load_kube_config(sys.argv[1])
    api = client.CoreV1Api()
    pod = sys.argv[2]
    post = api.connect_get_namespaced_pod_exec

    def run(script, **more):
        return stream(post, pod, "default", command=["sh", "-c", script], stdout=True, stderr=True, **more)

    assert run("echo hello") == "hello\n"
    print("ok output")

    told = run("echo out; echo err >&2; exit 7", _preload_content=False)
    told.run_forever(timeout=60)
    assert (told.read_stdout(), told.read_stderr(), told.returncode) == ("out\n", "err\n", 7)
    print("ok streams and exit code")

    talk = run("while read line; do echo got $line; test $line != end || exit 0; done", stdin=True, _preload_content=False)
    talk.write_stdin("one\n")
    assert talk.readline_stdout(timeout=60) == "got one"
    talk.write_stdin("end\n")
    assert talk.readline_stdout(timeout=60) == "got end"
    talk.run_forever(timeout=60)
    assert talk.returncode == 0
    print("ok input")

    tty = run("tty >/dev/null && echo a terminal", tty=True, stdin=True, _preload_content=False)
    tty.run_forever(timeout=60)
    assert tty.read_stdout() == "a terminal\r\n"
    print("ok terminal")

    try:
        stream(post, pod, "default", container="nope", command=["true"], stdout=True)
        raise AssertionError("no container is called nope")
    except ApiException as e:
        assert "400" in str(e) or e.status == 400, e
    print("ok refusal")

    log = api.read_namespaced_pod_log(pod, "default", tail_lines=1)
    assert log == "ready\n", log
    lines = api.read_namespaced_pod_log(pod, "default", follow=True, _preload_content=False).stream()
    assert next(lines) == b"ready\n"
    print("ok logs")


main()
