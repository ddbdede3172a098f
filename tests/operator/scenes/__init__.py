"""Scenes: one function each, named as a claim, for whatever engine it is given. Those marked private
kill or stop the operator and get one of their own."""

SHARED, PRIVATE = [], []


def scene(function=None, *, private=False):
    def mark(f):
        (PRIVATE if private else SHARED).append(f)
        return f
    return mark(function) if function else mark
