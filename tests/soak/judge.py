"""What must be true: of a job that has ended, of each of its pods, and of the processes these were. Each violation
comes with the job's whole story, so that one can act on it."""

import json
import os
import time

from harness.kube import path_of
from harness.record import LIMIT_TEXTS, Checker, condition, conditions, finished, is_true
from world.record import ORDER, container, phase, problems_of

LOG_BYTES = 2000


class Places(Checker):
    """As the operator's own tests, but what was asked for is known here, and some revisions were missed."""
    most = {}

    def _places(self, changes, pods):
        for where in {tuple(r) for r in self.indexes.values()}:
            if where[1] >= self.most.get(where[0], 0):
                self._bad(changes[-1].obj, f"a pod at {where}, at most {self.most} were asked for")


class Judge:
    def __init__(self, soak):
        self.soak = soak
        self.violations = []  # (mark, text, story)
        self.outcomes = {}
        self.pods = 0
        self.lost = []

    def bad(self, play, text):
        self.violations.append((play.mark, text, self.story(play)))

    # ---- one job

    def ended(self, play):
        """The job has ended, or is suspended for good, and what had to go is gone."""
        problems = []
        job = play.job() or play.last()
        problems += self._outcome(play, job)
        problems += self._revisions(play)
        for name, uids in play.places().items():
            problems += self._place(play, name, uids)
        for text in problems:
            self.bad(play, text)

    def _outcome(self, play, job):
        plan = play.plan
        state = next((t for t in ("Succeeded", "Failed", "Suspended") if is_true(job, t)), None)
        key = (plan.kind.name, plan.ends, state)
        self.outcomes[key] = self.outcomes.get(key, 0) + 1
        if not finished(job):
            return
        want = "Succeeded" if plan.ends == "succeeds" else "Failed"
        if state != want:
            yield f"ended as {state}, its script says {want}: {condition(job, state)['message']}"
            return
        message = condition(job, state)["message"]
        limited = [t for t in LIMIT_TEXTS if t in message]
        expected = {"limit": LIMIT_TEXTS[:1], "deadline": LIMIT_TEXTS[1:]}.get(plan.ends, ())
        if limited != list(expected):
            yield f"ended with {message!r}"

    def _revisions(self, play):
        pods = self.soak.of_pods(play.uid)
        checker = Places(play.history(), pods, [], [], None, False, play.plan.kind)
        checker.most = {role.lower(): n for role, n in play.plan.most.items()}
        checker.indexes = {uid: where for uids in play.places().values() for uid, where in uids.items()}
        yield from checker.check()
        by_uid = {}
        for c in pods:
            by_uid.setdefault(c.obj["metadata"]["uid"], []).append(c)
        for changes in by_uid.values():
            yield from problems_of(changes, False)

    # ---- one replica

    def _place(self, play, name, uids):
        """What the pods of a place told is what their processes did."""
        began, ended = play.written("began", name), play.written("ended", name)
        policy = next(play.plan.policies[role] for role in play.plan.shape if role.lower() == list(uids.values())[0][0])
        for uid in uids:
            self.pods += 1
            yield from self._pod(play, name, uid, policy, [w for u, w in began if u == uid], [w for u, w in ended if u == uid])
        if play.plan.left_alone:
            again = sum(policy == "ExitCode" and int(code) >= 128 for _, code in ended)
            if len(uids) > 1 + again:
                yield f"J1: {name} was made {len(uids)} times, and failed {again} times"

    def _pod(self, play, name, uid, policy, began, ended):
        changes = [c for c in self.soak.of_pods(play.uid) if c.obj["metadata"]["uid"] == uid]
        if policy in ("Never", "ExitCode") and len(began) > 1:
            yield f"N1: {name} ({uid}) ran {len(began)} times, its policy is {policy}"
        over = [c.obj for c in changes if ORDER.get(phase(c.obj)) == 2 and not c.obj["metadata"].get("deletionTimestamp")]
        if not over or any(c.obj["metadata"].get("deletionTimestamp") for c in changes if c.rev < int(
                over[0]["metadata"]["resourceVersion"])):
            return
        status = container(over[0], play.plan.kind.container)
        end = status.get("state", {}).get("terminated", {})
        if end.get("reason") == "ContainerStatusUnknown" or over[0]["status"].get("reason"):
            self.lost.append(f"{name} ({uid}): {over[0]['status'].get('reason')} {end}")
            yield f"{name} ({uid}) was lost: {over[0]['status'].get('reason')} {over[0]['status'].get('message')} {end}"
            return
        if [str(end.get("exitCode"))] != ended[-1:]:
            yield f"{name} ({uid}) ended with {end}, its process with {ended[-1:]}"
        if len(began) != status.get("restartCount", 0) + 1:
            yield f"{name} ({uid}) ran {len(began)} times, restartCount is {status.get('restartCount')}"

    # ---- telling

    def story(self, play):
        lines = []
        for c in play.history():
            told = " ".join(f"{k['type']}={k['status']}({k.get('reason', '')}: {k.get('message', '')})" for k in conditions(c.obj))
            marks = c.obj["metadata"].get("annotations", {}).get("muster.dev/restarts", "")
            lines.append((c.rev, c.at, f"job {c.type.lower()}{' (listed)' * c.listed} suspend="
                          f"{c.obj['spec'].get('runPolicy', {}).get('suspend')} {told} {marks} "
                          f"{json.dumps(c.obj.get('status', {}).get('replicaStatuses'))}"
                          f"{' LEAVING' * bool(c.obj['metadata'].get('deletionTimestamp'))}"))
        for c in self.soak.of_pods(play.uid):
            states = {s["name"]: {**s["state"], "restarts": s["restartCount"]} for m in ("initContainerStatuses", "containerStatuses")
                      for s in c.obj.get("status", {}).get(m) or []}
            lines.append((c.rev, c.at, f"pod {c.type.lower()}{' (listed)' * c.listed} {c.obj['metadata']['name']} {phase(c.obj)} "
                          f"{c.obj['status'].get('reason', '')}{' LEAVING' * bool(c.obj['metadata'].get('deletionTimestamp'))} "
                          f"{json.dumps(states)[:700]} {c.obj['metadata']['uid']}"))
        for e in self.soak.events_of(play):
            lines.append((int(e["metadata"]["resourceVersion"]), None,
                          f"event {e['involvedObject'].get('name')} {e['reason']}: {e.get('message')}"))
        lines.sort(key=lambda x: x[0])
        text = [str(play.plan), f"did: {', '.join(play.did)}"]
        text += [f"{rev:7} {self.soak.clock(at) if at else '':>8} {words}" for rev, at, words in lines]
        for name in sorted(os.listdir(play.folder)):
            if not name.startswith("script."):
                with open(f"{play.folder}/{name}", encoding="utf-8", errors="replace") as f:
                    text.append(f"{name}: " + f.read().replace("\n", " | "))
        for pod in play.pods():
            name = pod["metadata"]["name"]
            try:
                _, _, log = self.soak.machine.kube.raw("GET", path_of("pods", name, self.soak.ns, "log"))
                text.append(f"log of {name}: {log[-LOG_BYTES:].decode(errors='replace')}")
            except OSError as e:
                text.append(f"log of {name}: {e}")
        deaths = [f"{self.soak.clock(at)}" for at in self.soak.deaths]
        return "\n".join(text + ["the server died at " + ", ".join(deaths), f"now {self.soak.clock(time.time())}"])
