/* The certificates of one server, made at first start: a CA of its own, a server certificate and a
 * client certificate for its owner. */
#pragma once

#include "base/err.h"

#include <stddef.h>

/* Sees to ca, server and client .crt and .key in dir, which must exist. The CA is kept for its ten
 * years; certificates are made again when they are missing, near their end, of another CA, or (the
 * server's) lack one of the names. Files are replaced whole, keys have mode 0600, and a set that
 * a crash left incomplete is completed. What exists but cannot be used is an error that names the
 * file: it is never thrown away. san_hosts are names and addresses; kubernetes, kubernetes.default,
 * kubernetes.default.svc, localhost, 127.0.0.1, ::1 and 10.96.0.1 come by themselves. */
int pki_ensure(const char *dir, const char *const *san_hosts, size_t n, struct err *e);
