/* System calls that the C library does not wrap, and small helpers of the warden's files. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

/* AUTO(sys_fd) closes on leaving scope; -1 is fine. */
void sys_fd_auto(const int *fd);

/* As fork(2), with CLONE_ flags on top; *pidfd (may be NULL) closes on exec. */
pid_t sys_clone(uint64_t flags, int *pidfd);
int sys_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve);
int sys_pidfd_signal(int pidfd, int signo);

/* Writes all of it in one write(2) to a file that exists: what /proc and cgroups want. */
int sys_write_file(int dir, const char *path, const char *text);
/* At most n - 1 bytes and a NUL; the length, or -1. */
ssize_t sys_read_file(int dir, const char *path, char *to, size_t n);
/* All of the bytes, from offset at on; -1: where the file is. */
int sys_write_all(int fd, str bytes, int64_t at);
int sys_mkdirs(const char *path, mode_t mode); /* all of its parts */
/* Replaces the file whole or not at all. */
int sys_replace_file(int dir, const char *name, str text, struct err *e);

/* One message with a descriptor or without (-1). */
ssize_t sys_send_fd(int sock, const void *p, size_t n, int fd);
enum { SYS_FDS = 16 }; /* most that come with one read */
/* As recv(2); fds (room for SYS_FDS) are the receiver's and close on exec. */
ssize_t sys_recv_fds(int sock, void *p, size_t n, int *fds, size_t *nfds);

/* When a process began, in the kernel's ticks since boot, 0: there is none. With its number it is
 * one process: the number alone may be another's by now. */
int64_t sys_birth_ticks(int proc, const char *pid);
pid_t sys_parent(int proc, pid_t pid); /* 0: it has none, or is gone */
/* Children of a process, as far as /proc tells; calls see() for each. */
void sys_children(int proc, pid_t pid, void (*see)(void *ctx, pid_t child), void *ctx);
/* For a subreaper: kills everything below this process and reaps it, until nothing is left. */
void sys_kill_all(void);
/* Kills what has MUSTER_POD=uid in its environment: for when no subreaper is left. How many. */
size_t sys_kill_pod_strays(str uid);

int64_t sys_now_ms(void);  /* since 1970 */
int64_t sys_tick_ms(void); /* monotonic */
