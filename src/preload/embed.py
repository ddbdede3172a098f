#!/usr/bin/env python3
"""A file as a C array: embed.py FILE OUT.c"""
import sys

data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "w") as out:
    out.write('#include "preload/blob.h"\n\nconst unsigned char preload_blob[] = {\n')
    for at in range(0, len(data), 24):
        out.write("    " + ", ".join(str(byte) for byte in data[at : at + 24]) + ",\n")
    out.write("};\nconst size_t preload_blob_size = sizeof(preload_blob);\n")
