"""Compares two normalised answers, and knows which differences are accepted."""

import fnmatch

ABSENT = "<absent>"
# What tells the members of a list apart; lists of such are compared member by member.
NAMES = ("name", "resource", "groupVersion", "version", "type", "metadata")


def answers(left, right):
    """Yields (path, left, right) for each place where two answers differ.

    Where the codes do, nothing else can be alike, so that is all there is to say.
    """
    if left["code"] != right["code"]:
        yield "code", summary(left), summary(right)
    else:
        yield from differences(left, right)


def summary(answer):
    body = answer["body"]
    said = body.get("message", body.get("kind")) if isinstance(body, dict) else body
    return f"{answer['code']} {said}"


def differences(left, right, path=""):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            pair = left.get(key, ABSENT), right.get(key, ABSENT)
            yield from differences(*pair, f"{path}.{key}" if path else key)
    elif isinstance(left, list) and isinstance(right, list):
        yield from list_differences(left, right, path)
    elif type(left) is not type(right) or left != right:  # 1 is neither True nor 1.0 here
        yield path, left, right


def list_differences(left, right, path):
    key = name_key(left, right)
    if not key:
        for i in range(max(len(left), len(right))):
            pair = (x[i] if i < len(x) else ABSENT for x in (left, right))
            yield from differences(*pair, f"{path}.{i}")
        return
    named = [{name_of(m, key): m for m in side} for side in (left, right)]
    yield from differences(*named, path)
    order = [[n for n in side if n in named[0] and n in named[1]] for side in named]
    if order[0] != order[1]:
        yield f"{path}.<order>", order[0], order[1]


def name_key(left, right):
    """The field that names each member of both lists, once."""
    for key in NAMES:
        names = [[name_of(m, key) for m in side] for side in (left, right)]
        if all(None not in n and len(set(n)) == len(n) > 0 for n in names):
            return key
    return None


def name_of(member, key):
    value = member.get(key) if isinstance(member, dict) else None
    if key == "metadata" and isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) else None


class Accepted:
    """differences.txt: lines of `request-glob path-glob reason`.

    A reason that begins with "maybe:" is about who comes first, so it need not show.
    """

    def __init__(self, lines, where="differences"):
        self.lines, self.used = [], set()
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = line.strip().split(None, 2)
            if len(parts) < 3:
                raise ValueError(f"{where}:{number}: wants a request, a path and a reason")
            self.lines.append((f"{where}:{number}", *parts))

    def covers(self, request, path):
        """Whether some line does; every such line counts as still needed."""
        fitting = {
            line
            for line in self.lines
            if fnmatch.fnmatchcase(request, line[1]) and fnmatch.fnmatchcase(path, line[2])
        }
        self.used |= fitting
        return bool(fitting)

    def stale(self):
        return [
            line
            for line in self.lines
            if line not in self.used and not line[3].startswith("maybe:")
        ]
