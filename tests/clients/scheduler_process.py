"""kube-scheduler as a process, on the API of a Machine."""

import os
import re
import subprocess


class SchedulerProcess:
    def __init__(self, machine, *flags):
        self.log = os.path.join(machine.folder, "kube-scheduler.log")
        kubeconfig = os.path.join(machine.data, "kubeconfig")
        words = [os.environ["KUBE_SCHEDULER"], "--kubeconfig", kubeconfig, "--secure-port", "0", *flags]
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(words, stdout=log, stderr=log, env={"PATH": "/usr/bin:/bin"})

    def stop(self):
        self.child.terminate()
        self.child.wait()

    def complaints(self, expected=()):
        """What its log has of errors and warnings, without those that have one of these texts."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            lines = [line.rstrip() for line in log if not re.match(r"I\d{4} ", line)]
        return [line for line in lines if line and not any(e in line for e in expected)]
