/* What the store's tests share: a loop to turn by hand, and writes that wait for their answer. */
#pragma once

#include "loop/log.h"
#include "store/store.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer ends children that start threads after a fork of a process that has some: no
 * watchdog here. */
__attribute__((constructor)) static void no_watchdog(void)
{
    unsetenv("MUSTER_WATCHDOG");
}
#endif

struct answer {
    bool done;
    struct err e;
};

__attribute__((unused)) static void on_answer(void *ctx, const struct err *e)
{
    struct answer *a = ctx;

    a->done = true;
    a->e = e ? *e : (struct err){ 0 };
}

__attribute__((unused)) static void turn_until(struct loop *l, const bool *flag)
{
    while (!*flag)
        uv_run(loop_uv(l), UV_RUN_ONCE);
}

/* Lets what is on its way through the loop arrive. */
__attribute__((unused)) static void turn(struct loop *l)
{
    for (int i = 0; i < 3; i++)
        uv_run(loop_uv(l), UV_RUN_NOWAIT);
}

__attribute__((unused)) static struct store *open_store(struct loop *l, const char *path,
                                                        const struct store_opts *o)
{
    struct err e = { 0 };
    struct store *s = NULL;

    if (store_open(&s, l, path, o, &e) < 0) {
        printf("Bail out! store_open: %s\n", e.msg);
        exit(1);
    }
    return s;
}

__attribute__((unused)) static struct store_op op_put(struct store *s, struct store_coll *c,
                                                      const char *key, const char *value)
{
    return (struct store_op){ .coll = c,
                              .key = str_of(key),
                              .rev = store_take_rev(s),
                              .value = blob_new(str_of(value)),
                              .is_delete = false };
}

__attribute__((unused)) static struct store_op op_delete(struct store *s, struct store_coll *c,
                                                         const char *key, const char *value)
{
    return (struct store_op){ .coll = c,
                              .key = str_of(key),
                              .rev = store_take_rev(s),
                              .value = blob_new(str_of(value)),
                              .is_delete = true };
}

/* Commits and waits: the error code. */
__attribute__((unused)) static enum err_code commit(struct loop *l, struct store *s,
                                                    const struct store_op *ops, size_t n)
{
    struct answer a = { 0 };

    store_commit(s, ops, n, on_answer, &a);
    turn_until(l, &a.done);
    return a.e.code;
}

__attribute__((unused)) static enum err_code
put(struct loop *l, struct store *s, struct store_coll *c, const char *key, const char *value)
{
    struct store_op op = op_put(s, c, key, value);

    return commit(l, s, &op, 1);
}

__attribute__((unused)) static enum err_code del(struct loop *l, struct store *s,
                                                 struct store_coll *c, const char *key)
{
    struct store_op op = op_delete(s, c, key, "last");

    return commit(l, s, &op, 1);
}

/* Good until seven more were asked for. */
__attribute__((unused)) static str text_of(const struct value *v)
{
    static char room[8][256 * 1024];
    static unsigned next;
    AUTO(blob) struct blob *b = value_blob(v);
    char *to = room[next++ % COUNT(room)];

    if (!b)
        return STR_NONE;
    if (blob_str(b).n > sizeof(room[0]))
        abort();
    memcpy(to, blob_str(b).p, blob_str(b).n);
    return (str){ to, blob_str(b).n };
}

__attribute__((unused)) static str value_of(struct store_coll *c, const char *key)
{
    struct store_obj *o = store_get(c, str_of(key));

    return o ? text_of(o->value) : STR_NONE;
}

/* A directory of our own under the test's working directory. */
__attribute__((unused)) static char *temp_dir(void)
{
    static char dir[32];

    strcpy(dir, "store-test-XXXXXX");

    if (!mkdtemp(dir)) {
        printf("Bail out! mkdtemp\n");
        exit(1);
    }
    return dir;
}

__attribute__((unused)) static void remove_dir(const char *dir)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    if (system(command) != 0) /* NOLINT(cert-env33-c): a fixed command on our own directory */
        printf("# could not remove %s\n", dir);
}

/* Repeatable numbers: every failure can be run again. */
__attribute__((unused)) static uint32_t roll(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}
