/* A runtime with real wardens, for tests: runs the loop until something is true, keeps the events.
 * The test program itself is what the wardens are started from. */
#pragma once

#include "loop/loop.h"
#include "node/warden.h"
#include "sandbox/keeper.h"
#include "tap.h"

struct rig_event {
    struct rig_pod *pod;
    enum runtime_what what;
    char container[64];
    int64_t pid;
    int code;
    int signo;
    bool oom;
    uint64_t id;
    char why[512];
    char out[4097];
    struct jdoc *state; /* may be NULL */
};

struct rig_pod {
    struct rig *rig;
    char uid[40];
    struct runtime_pod *p;
    bool hello;
    bool gone;
    int started;
    int exited; /* or failed */
};

struct rig {
    struct loop *loop;
    struct runtime *rt;
    char dir[64];
    char pods[96];
    const char *level;
    struct rig_event *ev;
    size_t n;
    size_t cap;
};

/* "warden ..." becomes one and exits; LEVEL [USER] says what to test. Skips (and exits) what the
 * machine does not allow, saying why. USER "user": as an ordinary one when started by root. */
void rig_main(int argc, char **argv, struct rig *r);
void rig_done(struct rig *r); /* removes everything */

void rig_node_dies(struct rig *r); /* handles gone, wardens stay */
void rig_node_returns(struct rig *r);

/* extra: members of the sandbox as JSON, with single quotes; NULL: none. Known by the number n. */
struct rig_pod *rig_pod(struct rig *r, int n, const char *extra);
struct rig_pod *rig_adopt(struct rig *r, int n);
/* sh -c script as container "main"; extra as above. */
void rig_start(struct rig_pod *p, const char *script, const char *extra);
void rig_forget(const struct rig_pod *p);          /* removes its directory */
void rig_end(struct rig_pod *p, int64_t grace_ms); /* and waits until it is gone, and forgets it */
void rig_turn(struct rig *r); /* what there is to do now; a moment's rest when there is nothing */
int64_t rig_patience(void);   /* until when, by boot_now_ms(), a test waits from now on */
bool rig_wait(struct rig *r, const bool *flag);
bool rig_wait_n(struct rig *r, const int *count, int n);
bool rig_wait_log(struct rig_pod *p, const char *text);          /* has it */
bool rig_wait_processes(struct rig *r, const char *text, int n); /* at least */
const struct rig_event *rig_last(const struct rig_pod *p, enum runtime_what what);
str rig_read(struct arena *a, const char *path); /* empty when there is none */
str rig_log(struct arena *a, const struct rig_pod *p);
/* How many processes have the text in their command line (ours not). */
int rig_processes(const char *text);
bool rig_processes_are(const char *text, int n); /* soon */
