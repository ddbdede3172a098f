"""Scenes: one function each, named as a claim, played on every machine, or at the level or as the user named.
Slow ones (they wait for clocks) begin first."""

SCENES = []


def scene(function=None, *, level=None, user=None, slow=False):
    def mark(f):
        f.level, f.user, f.slow = level, user, slow
        SCENES.append(f)
        return f
    return mark(function) if function else mark


def of(level, user):
    mine = [f for f in SCENES if f.level in (None, level) and f.user in (None, user)]
    return sorted(mine, key=lambda f: not f.slow)
