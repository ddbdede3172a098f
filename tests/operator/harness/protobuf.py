"""As much of Kubernetes' protobuf as tests ask of a request: what it is, and of what name."""

MAGIC = b"k8s\0"


def fields(message):
    """{number: bytes or int}; of a number that comes again the last."""
    at, found = 0, {}

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            found[tag >> 3] = varint()
        elif tag & 7 == 2:
            size = varint()
            found[tag >> 3] = message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {tag & 7}")
    return found


def read(body):
    """The object as a dict that has kind, apiVersion and metadata.name."""
    envelope = fields(body[len(MAGIC):])
    kind, meta = fields(envelope[1]), fields(fields(envelope[2])[1])
    return {"apiVersion": kind[1].decode(), "kind": kind[2].decode(), "metadata": {"name": meta[1].decode()}}
