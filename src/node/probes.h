/* Questions to a container over the network: httpGet and tcpSocket, of probes and hooks. On the
 * loop, bounded in time and bytes. */
#pragma once

#include "base/json.h"
#include "loop/loop.h"
#include "podnet/network.h"

enum probe_result { PROBE_UNKNOWN = -1, PROBE_BAD = 0, PROBE_GOOD = 1 };

struct probe_opts {
    struct loop *loop;
    jv handler;                    /* a probe, or postStart or preStop; with httpGet or tcpSocket */
    jv container;                  /* whose ports may be named */
    str host;                      /* the pod's address, unless the handler names one */
    const struct pod_network *net; /* whose sockets reach it; NULL: any of this machine */
    int64_t timeout_ms;
    /* Once, never from within probe_start; message in kubelet's words, borrowed. */
    void (*done)(void *ctx, enum probe_result result, str message);
    void *ctx;
};

struct probe;
/* Everything is copied. NULL: the handler asks nothing over the network. */
struct probe *probe_start(const struct probe_opts *o);
void probe_stop(struct probe *p); /* before done only; done is not called. NULL is fine */
