"""A network cable between an operator and its proxy that can be cut without either being told: a network
namespace, for those who may make one."""

import os
import shutil
import subprocess

from .tap import Skip


class Wire:
    count = 0

    def __init__(self):
        if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nsenter"):
            raise Skip("needs root, ip and nsenter, to make a network namespace")
        Wire.count += 1
        number = (os.getpid() + Wire.count) % 16384
        base = f"10.{200 + number // 4096}.{number // 16 % 256}.{number % 16 * 4 + 1}".rsplit(".", 1)
        self.here, self.there = f"{base[0]}.{base[1]}", f"{base[0]}.{int(base[1]) + 1}"
        self.name = f"mu{os.getpid() % 100000}w{Wire.count}"
        self.inside = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        try:
            self._lay()
        except (subprocess.CalledProcessError, OSError) as e:
            self.stop()
            raise Skip(f"cannot make a network namespace: {e}") from None

    def _lay(self):
        host = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.inside.pid}/ns/net") == host:
            if self.inside.poll() is not None:
                raise OSError("unshare -n failed")
        self._ip("link", "add", self.name, "type", "veth", "peer", "name", self.name + "p")
        self._ip("link", "set", self.name + "p", "netns", str(self.inside.pid))
        self._ip("addr", "add", self.here + "/30", "dev", self.name)
        self._ip("link", "set", self.name, "up")
        for words in (("link", "set", "lo", "up"), ("addr", "add", self.there + "/30", "dev", self.name + "p"),
                      ("link", "set", self.name + "p", "up")):
            subprocess.run([*self.prefix, "ip", *words], check=True, capture_output=True)

    @property
    def prefix(self):
        """Put before a command, it runs at the other end."""
        return ["nsenter", "-t", str(self.inside.pid), "-n"]

    def _ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def cut(self):
        """What this end sends goes to an address that nobody has."""
        self._ip("neigh", "replace", self.there, "lladdr", "02:00:00:00:00:99", "dev", self.name, "nud", "permanent")

    def mend(self):
        self._ip("neigh", "del", self.there, "dev", self.name)

    def stop(self):
        self.inside.kill()
        self.inside.wait()
        subprocess.run(["ip", "link", "del", self.name], check=False, capture_output=True)
