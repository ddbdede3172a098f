"""Takes out of an answer what two servers cannot agree on: what is random or the time.

What stands in its place keeps what can be compared. A uid becomes its number within
the answer, so that a reference to another object shows; a revision or uid the script
kept becomes that name, so that it shows whether it changed.
"""

import datetime
import itertools
import re

HEADERS = (
    "content-type",
    "warning",
    "cache-control",
    "allow",
    "location",
    "retry-after",
    "www-authenticate",
)
UID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
TIME = re.compile(r"\b(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(?:Z|\+00:00)")
ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+\b")
TOKEN = re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+")
AGE = re.compile(r"(\d+[smhdy]){1,2}|<invalid>")
NODE_PORT = re.compile(r":3\d{4}\b")
# "Too large resource version: 99, current: 12", "too old resource version: 1 (12)",
# "the ResourceVersion in record (12)", and objects quoted whole in a message
REVISION = re.compile(r'(current: |version: \d+ \(|in record \(|resourceVersion\\*"?: ?\\*")\d+')
# A name made from generateName: so much of it, and then five of these letters.
MOST, RANDOM = 58, "[bcdfghjklmnpqrstvwxz2456789]{5}"
# Some messages end in a dump of Go's own structures: nobody else has those.
GO_DIFF = re.compile(r"\n@@ -.*", re.DOTALL)


class Normaliser:
    """Of one side; it lives as long as the run, as random names come up again later."""

    def __init__(self, run):
        self.run, self.stems = run, {}
        today = datetime.datetime.now(datetime.timezone.utc).date()
        # Times a script gives itself lie elsewhere, and are compared.
        self.days = {str(today + datetime.timedelta(days=d)) for d in (-1, 0, 1)}

    def answer(self, answer):
        asked, kept = answer["asked"], answer["kept"]
        self.asked = f"{asked['path']} {asked['body']}"
        self.kept = {v: f"<${k}>" for k, v in kept.items() if k not in ("run", "ns")}
        self.uids = {}
        for stem in re.findall(r'"generateName": *"([^"]+)"', self.asked):
            self.stems[stem[:MOST]] = re.compile(re.escape(stem[:MOST]) + RANDOM)
        headers, body = answer["headers"], answer["body"]
        if "protobuf" in headers.get("content-type", [""])[0]:
            body = "<protobuf>"
        if isinstance(body, list):
            body = without_bookmarks(body)
        return {
            "code": answer["code"],
            "headers": {h: [self.text(v) for v in headers[h]] for h in HEADERS if h in headers},
            "body": self.value(body, ""),
        }

    def value(self, value, key):
        if isinstance(value, dict):
            if value.get("kind") == "Table":
                value = self.table(value)
            if "uid" in value:
                value = self.revision(value)
            return {self.text(k): self.field(v, k) for k, v in sorted(value.items())}
        if isinstance(value, list):
            return [self.field(v, key) for v in value]
        return self.text(value) if isinstance(value, str) else value

    def field(self, value, key):
        """What is known by its name to be beyond comparing."""
        if isinstance(value, list):
            if key == "managedFields":  # the server orders them by second, so by chance
                names = ("operation", "manager", "subresource", "apiVersion")
                value = sorted(value, key=lambda m: str([m.get(n) for n in names]))
            elif key in ("resourceRules", "nonResourceRules"):  # these come out of a cache
                value = sorted(value, key=str)
        elif key == "resourceVersion" and re.fullmatch("[1-9][0-9]*", str(value)):
            return "<revision>"
        elif key == "continue" and value:
            return "<continue>"
        elif key in ("nodePort", "healthCheckNodePort") and value and str(value) not in self.asked:
            return "<port>"
        elif key in ("clusterIP", "clusterIPs") and ADDRESS.fullmatch(str(value)):
            if value not in self.asked:
                return self.kept.get(value, "<address>")
        elif key == "serverAddress":
            return "<address>"
        elif key == "storageVersionHash" and self.run in self.asked:
            return "<hash>"  # over a group's name, in which the run's word is
        return self.value(value, key)

    def revision(self, metadata):
        """An object's own, by name if kept; a list's depends on what else goes on."""
        revision = metadata.get("resourceVersion")
        if revision in self.kept:
            return {**metadata, "resourceVersion": self.kept[revision]}
        return metadata

    def table(self, table):
        """Cells have no names of their own; what they are follows from the columns."""
        titles = [c.get("name") for c in table.get("columnDefinitions") or []]

        def cell(title, value):
            if isinstance(value, str) and AGE.fullmatch(value):
                return "<age>"
            if title == "Cluster-IP" and ADDRESS.fullmatch(str(value)):
                return "<address>"
            if title == "Port(s)":
                return NODE_PORT.sub(lambda m: m[0] if m[0] in self.asked else ":<port>", value)
            return value

        rows = []
        for row in table.get("rows") or []:
            cells = row.get("cells") or []
            # In a watch only the first table has columns.
            named = itertools.zip_longest(titles[: len(cells)], cells)
            rows.append({**row, "cells": [cell(t, c) for t, c in named]})
        return {**table, "rows": rows}

    def text(self, text):
        for stem, pattern in self.stems.items():
            text = pattern.sub(f"{stem}<random>", text)
        text = GO_DIFF.sub("", text)
        text = UID.sub(self.uid, text)
        text = ADDRESS.sub(lambda m: self.kept.get(m[0], m[0]), text)
        text = TIME.sub(self.time, text)
        text = TOKEN.sub("<token>", text)
        text = REVISION.sub(r"\1<revision>", text)
        return text.replace(self.run, "run")

    def uid(self, match):
        uid = match[0]
        if uid in self.kept:
            return self.kept[uid]
        if uid in self.asked:
            return uid
        return f"<uid {self.uids.setdefault(uid, len(self.uids) + 1)}>"

    def time(self, match):
        if match[1] not in self.days:
            return match[0]
        return "<time with fraction>" if match[2] else "<time>"


def without_bookmarks(events):
    """How many bookmarks come is a matter of time: of several in a row one is left."""
    left = []
    for event in events:
        if is_timed_bookmark(event) and left and is_timed_bookmark(left[-1]):
            left.pop()
        left.append(event)
    return left


def is_timed_bookmark(event):
    """One that a timer sent, as opposed to the one that ends the initial events."""
    if not isinstance(event, dict) or event.get("type") != "BOOKMARK":
        return False
    return not (event["object"].get("metadata") or {}).get("annotations")
