"""Machines whose directories lie where every pod would see them, and what the tests of them have in common."""

import os
import tempfile

from world.machine import Machine

# Pods have a /tmp of their own, so a server there proves nothing. /srv is seen as it is.
FOLDER = "/srv" if os.geteuid() == 0 else os.path.expanduser("~")


class Place(Machine):
    def __init__(self, level, user, *flags):
        tempfile.tempdir = FOLDER
        super().__init__(level, user, *flags)

    def secrets(self):
        """Paths that no pod may read."""
        return [os.path.join(self.data, name) for name in ("token", "kubeconfig", "pki/ca.key", "pki/client.key",
                                                           "pki/accounts.key", "muster.db", "muster.db-wal", "pki", "pods",
                                                           "logs")]

    def put(self, name, text):
        """A file of this machine's user."""
        path = os.path.join(self.folder, name)
        self.make(os.path.dirname(name), mode=0o755)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o600)
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.uid)
        return path
