"""Reads requests/NN-area.http: what is asked, in which order, and what is kept.

    # words to the reader
    @let pods = /api/v1/namespaces/$ns/pods     text that later lines may use

    ### create                                  a request; its id is area/create
    POST $pods                                  PATCH is PATCH/json, /merge, /strategic or /apply
    @uid = metadata.uid                         keep this part of the answer as $uid
    Accept: table                               headers; see ACCEPT for the short forms

    {kind: Pod, metadata: {name: a}}            body

Further lines a request can have: `@until 200` or `@until status.phase=Active` asks
again until the answer is so; `@events 3` leaves a watch after three events; `@live`
lets a watch run while the requests after it are made; `@raw` takes the body as it is.
A body `< FILE` is that file, as it is; `@with OLD => NEW` puts other words into it.

$run is a word unique to the run, $ns a namespace of the area's own. A body is JSON in
which plain words go without quotes, but for types that are no JSON at all.
"""

import json
import pathlib
import re

PATCH = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
ACCEPT = {
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "partial": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "partial-list": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "aggregated": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
}
VARIABLE = re.compile(r"\$(\w+)")
# What strategic merge patches and container commands write with a dollar is not ours.
NOT_OURS = {"patch", "retainKeys", "setElementOrder", "deleteFromPrimitiveList"}
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,{}\[\]":]+(?::[^\s,{}\[\]":]+)*')
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


class Request:
    def __init__(self, ident, where):
        self.id, self.where = ident, where
        self.method = self.path = ""
        self.headers, self.keep = {}, {}
        self.body = self.until = None
        self.events, self.live, self.raw = 0, False, False
        self.words = []

    def is_watch(self):
        return re.search(r"[?&]watch=(?!0|false)|/watch/", self.path) is not None


class Area:
    def __init__(self, name):
        self.name, self.requests = name, []


def expand(text, values):
    """Puts values in place of $name; those nobody knows stay as they are."""
    return VARIABLE.sub(lambda m: str(values.get(m[1], m[0])), text)


def quote_words(text):
    """{kind: Pod} becomes {"kind": "Pod"}; all else keeps its place, repeated keys too."""

    def quoted(match):
        word = match[0]
        plain = word[0] == '"' or word in ("true", "false", "null") or NUMBER.fullmatch(word)
        return word if plain else json.dumps(word)

    return WORD.sub(quoted, text)


def read_area(path):
    path = pathlib.Path(path)
    area = Area(path.stem.split("-", 1)[1])
    lets, known, request, in_body = {}, {"run", "ns"} | NOT_OURS, None, False

    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if line.startswith("### "):
            request = Request(f"{area.name}/{line[4:].strip()}", where)
            area.requests.append(request)
            in_body = False
            continue
        if line.startswith("# "):
            continue
        if not line.strip():
            in_body = in_body or bool(request and request.method)
            continue
        line = expand(line, lets)
        if line.startswith("@let "):
            name, text = (s.strip() for s in line[5:].split("=", 1))
            lets[name] = text
            continue
        unknown = set(VARIABLE.findall(line)) - known
        if unknown:
            raise ValueError(f"{where}: nothing is called {', '.join(unknown)}")
        if in_body and line.startswith("< "):
            request.body, request.raw = (path.parent / line[2:].strip()).read_text(), True
            for old, new in request.words:
                request.body = request.body.replace(old, new)
        elif in_body:
            request.body = (request.body or "") + line + "\n"
        else:
            known |= read_line(request, line, where)

    for request in area.requests:
        finish(request)
    names = [r.id for r in area.requests]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        raise ValueError(f"{path.name}: twice there: {', '.join(sorted(twice))}")
    return area


def read_line(request, line, where):
    """One line before the body. Gives the names it makes known."""
    if not request.method:
        request.method, request.path = line.split(" ", 1)
        return set()
    if line.startswith("@"):
        word, _, rest = line[1:].partition(" ")
        if word == "until":
            request.until = rest
        elif word == "events":
            request.events = int(rest)
        elif word == "with":
            request.words.append([s.strip() for s in rest.split("=>", 1)])
        elif word in ("live", "raw"):
            setattr(request, word, True)
        elif rest.startswith("= "):
            request.keep[word] = rest[2:].strip()
            return {word}
        else:
            raise ValueError(f"{where}: cannot read {line}")
        return set()
    name, _, value = line.partition(":")
    request.headers[name] = value.strip()
    return set()


def finish(request):
    method, _, form = request.method.partition("/")
    request.method = method
    accept = request.headers.get("Accept", "application/json")
    request.headers["Accept"] = ACCEPT.get(accept, accept)
    if request.body is None:
        return
    request.headers.setdefault("Content-Type", PATCH.get(form, "application/json"))
    loose = "json" in request.headers["Content-Type"] or form == "apply"
    if loose and not request.raw:
        request.body = quote_words(request.body)
        try:
            json.loads(request.body)
        except ValueError as e:
            raise ValueError(f"{request.where}: {request.id}: body: {e}\n{request.body}") from e


def read_all(folder):
    areas = [read_area(p) for p in sorted(pathlib.Path(folder).glob("*.http"))]
    if not areas:
        raise ValueError(f"{folder}: no requests")
    return areas
