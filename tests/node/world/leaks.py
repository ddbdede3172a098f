"""What a machine holds of the kernel's: processes, mounts, namespaces, descriptors, memory; to be compared."""

import os


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


class Watch:
    def __init__(self, machine):
        self.machine = machine
        self.uids = set()

    def long_lived(self):
        """Processes of muster that stay: itself, the nursery, the hub."""
        found = {" ".join(words.split()[1:3]): pid for pid, words in self.machine.processes()}
        return {words: pid for words, pid in found.items() if words.startswith(("up ", "hub ", "warden --nursery"))}

    def counts(self):
        found = {"processes": len(self.machine.processes()), "mounts": len(self.machine.mounts())}
        spaces = set()
        for pid, _ in self.machine.processes():
            try:
                spaces |= {os.readlink(f"/proc/{pid}/ns/{name}") for name in os.listdir(f"/proc/{pid}/ns")}
            except OSError:
                pass
        found["namespaces"] = len(spaces)
        for words, pid in self.long_lived().items():
            try:
                found["descriptors of " + words] = len(os.listdir(f"/proc/{pid}/fd"))
                found["threads of " + words] = len(os.listdir(f"/proc/{pid}/task"))
            except OSError:
                pass  # it ended meanwhile
            found["devices seen by " + words] = len(read(f"/proc/{pid}/net/dev").splitlines()) if words.startswith("hub") else 0
        found["control groups"] = len(self.machine.cgroups(self.uids))
        found["files"] = sum(len(folders) + len(files) for at, folders, files in os.walk(self.machine.data)
                             if not at.startswith(os.path.join(self.machine.data, "logs")))
        return found

    def memory_kb(self):
        sizes = {}
        for words, pid in self.long_lived().items():
            for line in read(f"/proc/{pid}/status").splitlines():
                if line.startswith("VmRSS"):
                    sizes[words] = int(line.split()[1])
        return sizes
