/* A runtime without processes: what a container would do is read off its last argument. "exit N"
 * ends at once, "fail" does not start, "stubborn" only heeds SIGKILL, all else runs until it is
 * signalled. Outlives nodes, as wardens do. */
#pragma once

#include "loop/loop.h"
#include "node/runtime.h"

struct fake;

struct fake *fake_new(struct loop *l);
void fake_free(struct fake *f);
struct runtime *fake_runtime(struct fake *f);

bool fake_runs(const struct fake *f, str uid, str container);
size_t fake_count(const struct fake *f);                    /* sandboxes */
jv fake_told(const struct fake *f, str uid, str container); /* the last start; borrowed */
jv fake_sandbox(const struct fake *f, str uid);
/* Its sandbox file below a node's data, as a warden would have written it. */
void fake_keep(const struct fake *f, const char *data, str uid);
int64_t fake_starts(const struct fake *f, str uid, str container);
void fake_exit(struct fake *f, str uid, str container, int code, int signo, bool oom);
void fake_kill(struct fake *f, str uid);       /* the sandbox dies with all in it */
void fake_clear(struct fake *f, str uid);      /* its end was asked for when nothing ran any more */
void fake_exec_code(struct fake *f, int code); /* that commands end with from now on */
extern bool fake_twice;                        /* a container was started while it ran */
