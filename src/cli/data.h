/* The data directory: where it is, that it is ours, and that only one server uses it. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* --data, or $XDG_DATA_HOME/muster, or ~/.local/share/muster. */
int data_dir(struct arena *a, const char *given, const char **out, struct err *e);
int data_make(const char *dir, struct err *e);  /* 0700, unless it is there */
int data_close(const char *dir, struct err *e); /* to others, but that pods may pass through */
/* Makes it (0700) if need be and takes its lock; the descriptor holds the lock until it is closed.
 * Another server's lock is ERR_CONFLICT, somebody else's directory ERR_INVALID. */
int data_lock(const char *dir, int *fd, struct err *e);
/* A name for one run of what is called so: "mnist-5c1ab2f0". */
const char *data_run_name(struct arena *a, str name);
/* A directory below dir/runs for one run, made and locked; what older runs left is cleared: all of
 * those that did not end well, and the logs of all but the latest. */
int data_run_new(struct arena *a, const char *dir, str name, const char **out, int *lock,
                 struct err *e);
/* Whether the directory is the one that has the lock: a pod may have put another in its place. */
bool data_run_is(const char *run, int lock);
/* When the run is over, before the lock goes: all but the logs and the summary is removed. */
void data_run_end(const char *run, int lock);
/* A run that goes on, or that left something. */
struct data_run {
    const char *name;
    const char *path;   /* dir/runs/NAME, there or not */
    const char *claims; /* dir/claims/NAME, there or not */
    int64_t began_ms;
    bool is_running;
};
/* Those below dir, the latest first. */
size_t data_runs(struct arena *a, const char *dir, struct data_run **out);
/* Removes all that a run left. One that goes on is ERR_CONFLICT. */
int data_run_remove(const struct data_run *r, struct err *e);
/* dir, and the runs below it, the latest first; ends with NULL. */
const char **data_places(struct arena *a, const char *dir);
/* Notes that the holder of the lock is there for one run only, and whether it is. */
void data_hold_run(int fd);
bool data_is_run(const char *dir);
/* Notes that this process now holds the lock, as after a fork. */
int data_hold(int fd, struct err *e);
/* Who holds the lock: its pid, or 0 when nobody does. */
int data_holder(const char *dir, int *pid, struct err *e);
/* Waits until nobody holds the lock. */
int data_wait_free(const char *dir, int seconds, struct err *e);
/* Replaces the file whole, readable by its owner alone. */
int data_write(const char *path, str text, struct err *e);
/* The same in the file that is there, which others know by more than its name; made empty before
 * with text STR_NONE. One that is not ours alone is replaced. */
int data_write_into(const char *path, str text, struct err *e);
/* A file's text, up to a limit; not there: ERR_NOT_FOUND. */
int data_read(struct arena *a, const char *path, str *out, struct err *e);
/* The bearer token in the directory, made at first use. */
int data_token(struct arena *a, const char *dir, str *out, struct err *e);
