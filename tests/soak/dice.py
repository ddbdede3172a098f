"""What happens, decided by the seed alone: jobs, what each replica does in each of its attempts, how the job must
end therefore, what is done to it meanwhile, and when the server dies. No clock and no server is asked here, so a
seed gives the same decisions each time, whatever came of them."""

import copy
import random
from collections import namedtuple

from harness.kinds import JAX, KINDS, MPI, PADDLE, PYTORCH, TF, XGBOOST, pod_of

# A replica's attempts, the last of which is repeated: seconds, and an exit code or STAY.
STAY = "stay"
Attempt = namedtuple("Attempt", "seconds code")
Deed = namedtuple("Deed", "at what value")  # at: seconds after the job was made

SHAPES = {
    TF.name: ({"Chief": 1, "Worker": 2}, {"Worker": 1}, {"Worker": 2}, {"Worker": 3}, {"PS": 1, "Worker": 2},
              {"Chief": 1, "Evaluator": 1, "PS": 1, "Worker": 1}, {"Master": 1, "Worker": 1}),
    PYTORCH.name: ({"Master": 1}, {"Master": 1, "Worker": 1}, {"Master": 1, "Worker": 2}, {"Worker": 2}),
    XGBOOST.name: ({"Master": 1}, {"Master": 1, "Worker": 2}),
    MPI.name: ({"Launcher": 1, "Worker": 1}, {"Launcher": 1, "Worker": 2}),
    PADDLE.name: ({"Master": 1, "Worker": 1}, {"Worker": 1}, {"Worker": 3}),
    JAX.name: ({"Worker": 1}, {"Worker": 2}, {"Worker": 3}),
}
PERMANENT, PASSING = (1, 2, 3, 42, 127), (130, 137, 137, 143, 255)  # as policy ExitCode has it
MOST = 4  # workers a job is scaled to


class Plan:
    """A job: what is asked for, and how it must end."""

    def __init__(self, seed, number):
        d = self.dice = random.Random(f"{seed}/job/{number}")
        self.name = f"j{number}"
        self.kind = d.choice(KINDS)
        self.shape = dict(d.choice(SHAPES[self.kind.name]))
        self.all_workers = self.kind is TF and d.random() < 0.4
        self.ends = d.choices(("succeeds", "fails", "limit", "deadline"), (6, 3, 2, 1))[0]
        self.deeds = self._deeds()
        self.most = {role: max([n] + [x.value for x in self.deeds if x.what == "scale" and role == "Worker"])
                     for role, n in self.shape.items()}
        self.policies, self.scripts = {}, {}
        self.limit = self.deadline = None
        self._write_scripts()
        self.clean = d.choice(("None", "Running", "All"))
        self.ttl = d.randrange(1, 5) if d.random() < 0.15 else None
        self.grace = d.choice((0, 1, 2))
        self.stubborn = d.random() < 0.2  # does not care about SIGTERM
        self.litters = d.random() < 0.3  # leaves processes of its own
        self.again = d.random() < 0.5  # once deleted, made again under its name
        self.kept = d.random() < 0.3  # not deleted before the end of all

    # ---- what is done to it

    def _deeds(self):
        d, found, at = self.dice, [], 0
        for _ in range(d.choices((0, 1, 2, 3), (4, 3, 2, 1))[0]):
            at += d.uniform(0, 3)
            what = d.choices(("suspend", "scale", "touch", "lose a pod", "delete"), (4, 3, 2, 3, 2))[0]
            if what == "scale" and "Worker" not in self.shape:
                what = "touch"
            if what == "suspend":
                found.append(Deed(at, "suspend", True))
                at += d.uniform(0, 4)
                found.append(Deed(at, "suspend", False))
            else:
                found.append(Deed(at, what, d.randrange(1, MOST + 1) if what == "scale" else d.random()))
            if what == "delete":
                return found
        if found and found[-1].what == "suspend" and d.random() < 0.2:
            found.pop()  # it stays suspended
        return found

    def reborn(self):
        """The same once more, and nobody meddles."""
        plan = copy.copy(self)
        plan.deeds = []
        return plan

    @property
    def stays_suspended(self):
        told = [x.value for x in self.deeds if x.what == "suspend"]
        return bool(told) and told[-1]

    @property
    def left_alone(self):
        return all(x.what == "touch" for x in self.deeds)

    # ---- how it ends

    def deciders(self):
        """Pods, without the job's name, all of which must succeed."""
        for role in ("Chief", "Master", "Launcher"):
            if role in self.shape:
                return [pod_of(role, 0)]
        if self.kind is TF and not self.all_workers:
            return ["worker-0"]
        return [pod_of("Worker", i) for i in range(self.most["Worker"])]

    def replicas(self):
        """(role, pod without the job's name), of all there may ever be."""
        return [(role, pod_of(role, i)) for role, n in self.most.items() for i in range(n)]

    def _write_scripts(self):
        d, deciders = self.dice, self.deciders()
        for role in self.shape:
            decides = any(pod in deciders for r, pod in self.replicas() if r == role)
            self.policies[role] = d.choice(("Never", "OnFailure", "ExitCode", "ExitCode") + (() if decides else ("Always",)))
        guilty = self._guilty()
        for role, pod in self.replicas():
            if pod == guilty:
                self.scripts[pod] = self._bad_end(role)
            else:
                self.scripts[pod] = self._good_end(role, pod in deciders)
        if self.ends == "deadline":
            self.deadline = d.randrange(2, 7)
        elif self.ends != "limit" and d.random() < 0.5:
            self.limit = sum(len(s) - 1 for s in self.scripts.values()) + d.randrange(1, 4)

    def _guilty(self):
        """Who brings the job down; always there, however it is scaled."""
        if self.ends not in ("fails", "limit"):
            return None
        role = self.dice.choice(sorted(self.shape))
        scaled = any(x.what == "scale" for x in self.deeds)
        index = 0 if scaled and role == "Worker" else self.dice.randrange(self.shape[role])
        wanted = ("Never", "ExitCode") if self.ends == "fails" else ("OnFailure", "ExitCode")
        self.policies[role] = self.dice.choice(wanted)
        return pod_of(role, index)

    def _bad_end(self, role):
        """Each attempt fails: for good, or until the limit is reached."""
        d = self.dice
        if self.ends == "fails":
            return [Attempt(self._time(), d.choice(PERMANENT))]
        in_place = self.policies[role] == "OnFailure"  # with pauses of 10, 20, … seconds
        self.limit = d.randrange(0, 3 if in_place else 4)
        return [Attempt(self._time(), d.choice(PASSING))]

    def _good_end(self, role, decides):
        """Some failures that are made good; then it succeeds, or stays where that would end the job too early."""
        d, policy = self.dice, self.policies[role]
        codes = {"Never": (), "OnFailure": PERMANENT + PASSING, "ExitCode": PASSING, "Always": PERMANENT + PASSING}[policy]
        many = d.choices((0, 1, 2), (5, 3, 1))[0] if codes and self.ends != "limit" else 0
        tries = [Attempt(self._time(), d.choice(codes)) for _ in range(many)]
        if decides:
            return tries + [Attempt(self._time(), 0 if self.ends == "succeeds" else STAY)]
        return tries + [Attempt(self._time(), STAY if policy == "Always" or d.random() < 0.5 else 0)]

    def _time(self):
        return round(self.dice.choice((0, 0.3, 1, 1, 2, 3)) * self.dice.random(), 2)

    # ---- as an object

    def job(self, template):
        """template(role): of its pods."""
        specs = {role: {"replicas": n, "restartPolicy": self.policies[role], "template": template(role)}
                 for role, n in self.shape.items()}
        policy = {"cleanPodPolicy": self.clean, "backoffLimit": self.limit, "activeDeadlineSeconds": self.deadline,
                  "ttlSecondsAfterFinished": self.ttl}
        spec = {self.kind.specs: specs, "runPolicy": {k: v for k, v in policy.items() if v is not None}}
        if self.all_workers:
            spec["successPolicy"] = "AllWorkers"
        return {"metadata": {"name": self.name}, "spec": spec}

    def __str__(self):
        limits = "".join(f" {k}={v}" for k, v in (("limit", self.limit), ("deadline", self.deadline), ("ttl", self.ttl)) if v
                         is not None)
        roles = ", ".join(f"{n} {role} {self.policies[role]}" for role, n in self.shape.items())
        scripts = "; ".join(f"{pod} " + " ".join(f"{a.seconds}s:{a.code}" for a in s) for pod, s in self.scripts.items())
        deeds = ", ".join(f"{x.at:.1f}s {x.what}" + ("" if isinstance(x.value, float) else f" {x.value}") for x in self.deeds)
        return (f"{self.name} {self.kind.name} {self.ends}: {roles}{' AllWorkers' * self.all_workers}{limits} clean={self.clean}"
                f" | {scripts} | {deeds or 'left alone'}")


def pauses(seed, mean):
    """Seconds between two deaths of the server, and how long it stays away each time."""
    d = random.Random(f"{seed}/deaths")
    while True:
        soon = d.random() < 0.1  # again before it has found its feet
        yield (d.uniform(0, 1) if soon else d.uniform(0.7, 1.3) * mean), d.choice((0, 0, 0.2, 1))


def notes(seed):
    """What is written besides jobs: (what, which of 20 ConfigMaps, value, seconds until the next)."""
    d = random.Random(f"{seed}/notes")
    number = 0
    while True:
        number += 1
        yield d.choices(("write", "delete"), (5, 1))[0], f"n{d.randrange(20)}", str(number), d.uniform(0, 0.05)
