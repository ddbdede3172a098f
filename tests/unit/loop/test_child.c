/* Programs run beside the loop. */

#include "loop/child.h"
#include "tap.h"

#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

struct ran {
    int n;
    int status;
    bool timed_out;
    bool too_large;
    char out[256];
    size_t out_n;
};

static void on_done(void *ctx, const struct loop_child_end *end)
{
    struct ran *r = ctx;

    r->n++;
    r->status = end->status;
    r->timed_out = end->timed_out;
    r->too_large = end->too_large;
    r->out_n = end->out.n;
    snprintf(r->out, sizeof(r->out), "%" PRI_STR, STR_ARG(str_sub(end->out, 0, 200)));
}

static struct loop_child *start(struct loop *l, struct ran *r, const char *script, int64_t ms)
{
    struct loop_child *ch = NULL;
    struct err e = { 0 };
    struct loop_child_opts o = {
        .argv = (const char *const[]){ "sh", "-c", script, NULL },
        .env = (const char *const[]){ "A=b c", "HOME=/nowhere", NULL },
        .most_bytes = 100000,
        .timeout_ms = ms,
        .done = on_done,
        .ctx = r,
    };

    ok(loop_child_start(&ch, l, &o, &e) == 0, "it starts: %s", e.msg);
    is_int(r->n, 0, "nothing from within");
    return ch;
}

static struct ran run(struct loop *l, const char *script, int64_t ms)
{
    struct ran r = { 0 };

    start(l, &r, script, ms);
    while (!r.n)
        uv_run(loop_uv(l), UV_RUN_ONCE);
    return r;
}

int main(void)
{
    struct loop *l = loop_new();
    struct loop_child *ch = NULL;
    struct err e = { 0 };

    struct ran r = run(l, "echo \"$A $HOME\"; cat; exit 3", 60000);
    is_str(str_of(r.out), S("b c /nowhere\n"), "what it prints, with its environment and no input");
    is_int(WEXITSTATUS(r.status), 3, "how it ended");
    r = run(l, "head -c 90000 /dev/zero", 60000);
    is_int((int64_t)r.out_n, 90000, "more than a pipe holds");
    r = run(l, "head -c 200000 /dev/zero; sleep 100", 60000);
    ok(r.too_large, "more than is allowed ends it");
    int64_t began = loop_now_ms(l);
    r = run(l, "sleep 100 & sleep 100", 100);
    ok(r.timed_out && loop_now_ms(l) - began < 60000, "as does too long a time");
    r = run(l, "sleep 2 & echo early", 60000);
    is_str(str_of(r.out), S("early\n"), "what it leaves behind is not waited for");
    r = (struct ran){ 0 };
    ch = start(l, &r, "sleep 100", 60000);
    loop_child_stop(ch);
    struct loop_child_opts none = { .argv = (const char *const[]){ "/no/such/program", NULL } };
    is_int(loop_child_start(&ch, l, &none, &e), -1, "one that is not there does not start");
    is_str(str_of(e.msg), S("run /no/such/program: No such file or directory"), "and says so");
    loop_free(l);
    is_int(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
    return tap_done();
}
