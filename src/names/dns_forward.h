/* Asks the nameservers of this machine, one after the other, over UDP. On the loop thread. */
#pragma once

#include "loop/loop.h"
#include "names/dns_packet.h"

struct dns_further;

/* resolv: the file that names them; NULL: there are none. */
struct dns_further *dns_further_new(struct loop *l, const char *resolv, int port);
void dns_further_free(struct dns_further *f); /* those who wait are told that nobody answered */
bool dns_further_can(struct dns_further *f);  /* there is somebody to ask */
/* done(ctx, answer) once, its id not set yet; empty: nobody answered. false: too many wait, and
 * done does not come. */
bool dns_further_ask(struct dns_further *f, str packet, const struct dns_question *q,
                     void (*done)(void *ctx, str packet), void *ctx);
