#!/usr/bin/python3
"""The store: killed with -9 in the middle of writes, bytes flipped, its journal cut, emptied or taken away, a disk
that is full. As root and as an ordinary user. ATTACK_KILLS (3) is how often it is killed, ATTACK_FLIPS (12) how many
damaged copies are tried, ATTACK_SEED what they begin with. Usage: t3000_store.py [root|user] [part of a claim]..."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

from harness.kube import ApiError
from harness.tap import Skip, claim, has, is_
from hostile.door import Door
from hostile.raw import ask
from world.cast import on_each

KILLS = int(os.environ.get("ATTACK_KILLS") or 3)
FLIPS = int(os.environ.get("ATTACK_FLIPS") or 12)
SEED = int(os.environ.get("ATTACK_SEED") or 1)
ATTACKS = []
COMPLAINS = re.compile(r"level=(warn|warning|error)|damage|missing|lost|malformed|corrupt|not a database|not readable|cannot|is gone|checksum")


def attack(test):
    ATTACKS.append(test)
    return test


def maps(d):
    return {o["metadata"]["name"]: (o.get("data") or {}).get("n") for o in d.kube.list("configmaps", "open")}


def writer(d, n, told, stop):
    """Writes as fast as it can; told: what was acknowledged, by name, None once it is deleted."""
    kube, i = d.kube, 0
    while not stop.is_set():
        i += 1
        name = f"w{n}-{len(told)}-{i}"
        told[name] = "asked"  # it may be there, or not
        try:
            kube.create("configmaps", {"metadata": {"name": name}, "data": {"n": "1"}}, "open")
            told[name] = "1"
            if i % 3 == 0:
                told[name] = "1 or 2"
                kube.patch("configmaps", name, {"data": {"n": "2"}}, "open")
                told[name] = "2"
            if i % 5 == 0:
                told[name] = "maybe gone"
                kube.delete("configmaps", name, "open")
                told[name] = None
        except (OSError, ApiError, ValueError):
            return
        except Exception:  # pylint: disable=broad-except # the connection broke within an answer
            return


@attack
def nothing_acknowledged_is_lost_by_kill_9(d):
    chance, told = random.Random(SEED), {}
    for done in range(1, KILLS + 1):
        stop = threading.Event()
        threads = [threading.Thread(target=writer, args=(d, n, told, stop)) for n in range(4)]
        for t in threads:
            t.start()
        d.machine.until(lambda: sum(v == "1" for v in told.values()) > 20 * done, "writes are under way")
        time.sleep(chance.random() * 0.3)
        d.machine.kill()
        stop.set()
        for t in threads:
            t.join()
        d.machine.start()
        there = maps(d)
        wrong = [(name, want, there.get(name)) for name, want in told.items() if not agrees(want, there.get(name))]
        is_(wrong, [], f"seed {SEED}: asked, expected, found")


def agrees(want, got):
    return want in ("asked", "maybe gone") or (got in ("1", "2") if want == "1 or 2" else got == want)


class Copy:
    """A copy of the data directory of a server that was stopped or killed, to be damaged and started."""

    def __init__(self, d, source, number):
        self.d, self.dir = d, os.path.join(d.machine.folder, f"copy-{number}")
        shutil.copytree(source, self.dir, symlinks=True)
        if os.geteuid() == 0:
            for at, folders, files in os.walk(self.dir):
                for path in [at] + [os.path.join(at, n) for n in folders + files]:
                    os.lchown(path, d.machine.uid, d.machine.uid)

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self):
        """(exit code or None, what it said, configmaps or None)"""
        m = self.d.machine
        child = subprocess.Popen(**m.command("up", "--data", self.dir, "--listen", "127.0.0.1:0", "--no-node", "--no-operator",
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        said, found = b"", None
        try:
            while not found:
                line = child.stdout.readline()
                if not line:
                    return child.wait(60), said.decode(errors="replace"), None
                said += line
                found = re.search(rb"is ready at https://[^ ]*?:(\d+)", line)
            token = ""
            with open(self.path("token"), encoding="utf-8", errors="replace") as f:
                token = f.read().strip()
            code, _, body = ask(int(found[1]), "GET", "/api/v1/namespaces/open/configmaps", token)
            items = {o["metadata"]["name"]: (o.get("data") or {}).get("n") for o in json.loads(body)["items"]} if code == 200 else None
            child.terminate()
            said += child.stdout.read()
            return child.wait(60), said.decode(errors="replace"), items
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
            child.stdout.close()

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def frozen(d, killed):
    """A data directory with some objects, of a server that does not run, and what it has to have."""
    names = {f"f{i}": str(i) for i in range(40)}
    for name, value in names.items():
        if not d.kube.find("configmaps", name, "open"):
            d.kube.create("configmaps", {"metadata": {"name": name}, "data": {"n": value}}, "open")
    if killed:
        d.machine.kill()
    else:
        d.machine.stop()
    folder = os.path.join(d.machine.folder, "frozen")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(d.machine.data, folder, symlinks=True)
    before = None
    copy = Copy(d, folder, "whole")
    code, said, before = copy.start()
    copy.remove()
    assert before and all(before.get(k) == v for k, v in names.items()), (code, said[-500:])
    assert not COMPLAINS.search(said), f"it complains of what is whole: {said}"
    d.machine.start()
    return folder, before


def judge(name, before, result):
    """Nothing is lost or changed without a word, and nothing ends by a signal."""
    code, said, items = result
    complains = COMPLAINS.search(said)
    if code is not None and code < 0:
        return f"{name}: ended by signal {-code}: {said[-300:]}"
    if items is None:
        return None if complains else f"{name}: exit code {code} without a word: {said[-300:]}"
    lost = sorted(k for k, v in before.items() if items.get(k) != v)
    if lost and not complains:
        return f"{name}: {len(lost)} objects lost or changed without a word, {lost[:3]}"
    return None


@attack
def flipped_bytes_are_noticed(d):
    folder, before = frozen(d, killed=False)
    chance, bad = random.Random(SEED), []
    for i in range(FLIPS):
        copy = Copy(d, folder, i)
        with open(copy.path("muster.db"), "r+b") as f:
            size = f.seek(0, 2)
            at = chance.randrange(size)
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes((byte ^ (1 << chance.randrange(8)),)))
        bad.append(judge(f"seed {SEED}: byte {at} of {size}", before, copy.start()))
        copy.remove()
    is_([b for b in bad if b], [], "not noticed")


@attack
def flipped_bytes_of_the_journal_are_noticed(d):
    folder, before = frozen(d, killed=True)
    if not os.path.exists(folder + "/muster.db-wal"):
        raise Skip("there is no journal")
    chance, bad = random.Random(SEED), []
    for i in range(FLIPS // 2):
        copy = Copy(d, folder, i)
        with open(copy.path("muster.db-wal"), "r+b") as f:
            size = f.seek(0, 2)
            at = chance.randrange(size)
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes((byte ^ 0xFF,)))
        bad.append(judge(f"seed {SEED}: byte {at} of {size} of the journal", before, copy.start()))
        copy.remove()
    is_([b for b in bad if b], [], "not noticed")


@attack
def a_journal_that_is_cut_or_gone_is_noticed(d):
    folder, before = frozen(d, killed=True)
    bad = []
    for name, damage in (("deleted", os.unlink), ("emptied", lambda p: os.truncate(p, 0)),
                         ("cut in half", lambda p: os.truncate(p, os.path.getsize(p) // 2))):
        copy = Copy(d, folder, name.replace(" ", "-"))
        if os.path.exists(copy.path("muster.db-wal")):
            damage(copy.path("muster.db-wal"))
            bad.append(judge("the journal " + name, before, copy.start()))
        copy.remove()
    is_([b for b in bad if b], [], "not noticed")


@attack
def a_database_that_is_empty_or_gone_is_noticed(d):
    folder, before = frozen(d, killed=False)
    bad = []
    for name, damage in (("deleted", os.unlink), ("emptied", lambda p: os.truncate(p, 0)), ("cut", lambda p: os.truncate(p, 8192))):
        copy = Copy(d, folder, name)
        damage(copy.path("muster.db"))
        for journal in ("muster.db-wal", "muster.db-shm"):
            if os.path.exists(copy.path(journal)):
                os.unlink(copy.path(journal))
        bad.append(judge("the database " + name, before, copy.start()))
        copy.remove()
    is_([b for b in bad if b], [], "not noticed")


@attack
def on_a_full_disk_reads_and_deletes_work(d):
    small = d.machine.make("small", mode=0o755)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=12m,mode=0755,uid={d.machine.uid},gid={d.machine.uid}", "tmpfs", small],
                      capture_output=True, check=False).returncode:
        raise Skip("a small file system takes root and the right to mount")
    try:
        full(d, os.path.join(small, "data"), small)
    finally:
        subprocess.run(["umount", "-l", small], check=False)


def fill(small):
    try:
        with open(os.path.join(small, "filler"), "wb", buffering=0) as f:
            while True:
                f.write(b"\0" * 65536)
    except OSError:
        pass
    try:
        with open(os.path.join(small, "filler"), "ab", buffering=0) as f:
            while True:
                f.write(b"\0")
    except OSError:
        pass


def full(d, data, small):
    m = d.machine

    def up():
        child = subprocess.Popen(**m.command("up", "--data", data, "--listen", "127.0.0.1:0", "--no-node", "--no-operator",
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        said = b""
        while True:
            line = child.stdout.readline()
            said += line
            found = re.search(rb"is ready at https://[^ ]*?:(\d+)", line)
            if found or not line:
                threading.Thread(target=child.stdout.read, daemon=True).start()
                return child, int(found[1]) if found else 0, said.decode(errors="replace")
    child, port, said = up()
    try:
        assert port, said
        with open(data + "/token", encoding="utf-8") as f:
            token = f.read().strip()
        where = "/api/v1/namespaces/default/configmaps"
        body = {"metadata": {"name": "x"}, "data": {"n": "y" * 20000}}
        for i in range(10):
            body["metadata"]["name"] = f"m{i}"
            is_(ask(port, "POST", where, token, body=json.dumps(body))[0], 201, "while there is room")
        fill(small)
        codes = []
        for i in range(400):
            body["metadata"]["name"] = f"n{i}"
            code, _, text = ask(port, "POST", where, token, body=json.dumps(body))
            codes.append(code)
            if code != 201:
                break
        assert codes[-1] in (500, 503, 507), codes[-3:]
        has(text.decode().lower(), "full", "the reason")
        is_(ask(port, "GET", where, token)[0], 200, "a list")
        is_(ask(port, "DELETE", where + "/m0", token)[0], 200, "a deletion")
        is_(ask(port, "GET", where + "/m0", token)[0], 404, "what was deleted")
        child.terminate()
        child.wait(60)
        fill(small)
        child, port, said = up()
        assert port, f"it does not start: {said}"
        is_((ask(port, "GET", where + "/m1", token)[0], ask(port, "GET", where + "/m0", token)[0]), (200, 404), "after a start on a full disk")
        is_(ask(port, "DELETE", where + "/m1", token)[0], 200, "a deletion then")
    finally:
        child.kill()
        child.wait()


@attack
def a_run_on_a_full_disk_says_so_at_once(d):
    small = d.machine.make("tiny", mode=0o755)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=1m,mode=0755,uid={d.machine.uid},gid={d.machine.uid}", "tmpfs", small],
                      capture_output=True, check=False).returncode:
        raise Skip("a small file system takes root and the right to mount")
    try:
        fill(small)
        pod = d.machine.put("tiny-pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: Never, containers: "
                            "[{name: c, image: x, command: ['true']}]}\n")
        done = d.machine.muster_run("run", "--isolation", "shared", "--data", small + "/data", pod, timeout=60)
        assert done.returncode not in (0, -6, -11), done
        has((done.stdout + done.stderr).lower(), "full", "what it says")
    finally:
        subprocess.run(["umount", "-l", small], check=False)


def store(tap, _, user, parts):
    d = Door(user, "--no-operator")
    for test in ATTACKS:
        if not parts or any(p in test.__name__ for p in parts):
            d.revive()
            tap.run(f"{claim(test)} (as {user})", test, d)
    d.revive()
    tap.run(f"it lives, and stops as it should (as {user})", lambda: (d.lives(), is_(d.machine.stop(), 0, "exit code")))
    d.machine.remove()


if __name__ == "__main__":
    on_each(store, ["shared", *sys.argv[1:]])
