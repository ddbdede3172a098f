/* The program nft: sets rules of the network namespace that the caller is in, all or none. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <limits.h>
#include <sys/types.h>

struct net_nft {
    pid_t pid; /* 0: none runs */
    int pidfd; /* readable at its end */
    int said;  /* what it complains of */
};

/* A program in $PATH, or where only root's usually looks. */
bool net_find_program(const char *name, char out[PATH_MAX]);

int net_nft_start(struct net_nft *n, str rules, struct err *e);
int net_nft_end(struct net_nft *n, struct err *e); /* waits; -1: nothing was changed, and why */
int net_nft_run(str rules, struct err *e);         /* both */
