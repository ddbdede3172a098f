/* Golden lives of pods: tests/golden/node/NNN-name.yaml, two documents: the pod, and what happens:
 * at (seconds), do (facts), want (all actions, events and the next wake, as text), status (of the
 * status, the members given; "(absent)" for what must not be there). The pod begins at 0. `make
 * golden` rewrites want. */

#include "base/yaml.h"
#include "node/life.h"
#include "slurp.h"

#include <dirent.h>

static const int64_t zero_ms = 1767225600000; /* 2026-01-01T00:00:00Z */
static bool rewrite;

/* ---- is `want` in `got`? Says where not. */

static bool complain(const char *path, jv got, jv want)
{
    AUTO(arena) struct arena *a = arena_new();

    printf("# at %s\n#   got  %" PRI_STR "\n#   want %" PRI_STR "\n", path,
           STR_ARG(jv_exists(got) ? json_text(a, got) : S("(absent)")),
           STR_ARG(json_text(a, want)));
    return false;
}

static bool has(const char *path, jv got, jv want)
{
    AUTO(arena) struct arena *a = arena_new();
    bool all = true;

    if (jv_is(want, JV_STR) && str_eq(jv_str(want, S("")), S("(absent)")))
        return jv_exists(got) ? complain(path, got, want) : true;
    if (jv_type(got) != jv_type(want) || (jv_is(want, JV_ARR) && jv_len(got) != jv_len(want)))
        return complain(path, got, want);
    if (jv_is(want, JV_ARR))
        for (size_t i = 0; i < jv_len(want); i++)
            all &= has(arena_printf(a, "%s[%zu]", path, i).p, jv_index(got, i), jv_index(want, i));
    else if (jv_is(want, JV_OBJ))
        JV_EACH (it, want)
            all &= has(arena_printf(a, "%s.%" PRI_STR, path, STR_ARG(it.key)).p,
                       jv_get(got, it.key), it.value);
    else
        return jv_equal(got, want) ? true : complain(path, got, want);
    return all;
}

/* Conditions by type, containers by name: easier to name in a case. */
static jv by_name(struct arena *a, jv list, const char *key)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, list)
        jb_set(&b, jv_str(jv_get(it.value, str_of(key)), S("")), it.value);
    return jb_done(&b);
}

static jv readable(struct arena *a, jv st)
{
    st = jv_with(a, st, by_name(a, jv_at(st, "conditions"), "type"), "conditions");
    st = jv_with(a, st, by_name(a, jv_at(st, "containerStatuses"), "name"), "containers");
    st = jv_with(a, st, by_name(a, jv_at(st, "ephemeralContainerStatuses"), "name"), "ephemeral");
    return jv_with(a, st, by_name(a, jv_at(st, "initContainerStatuses"), "name"), "init");
}

/* ---- facts, as words */

struct scene {
    struct life *life;
    struct arena *a;
    int64_t now_ms;
    struct life_out *out;
    struct jbuild said;
};

static size_t index_of(struct scene *s, str name)
{
    struct life_container *c = life_find(s->life, name);

    if (!c) {
        printf("Bail out! no container %" PRI_STR "\n", STR_ARG(name));
        exit(1);
    }
    return (size_t)(c - s->life->at);
}

static int64_t number(str s)
{
    int64_t n = 0;

    str_to_int(s, &n);
    return n;
}

static void set_pod(struct scene *s, jv pod)
{
    struct arena *a = arena_new();
    struct jdoc *d = jdoc_of(a, jv_copy(a, pod));

    life_update(s->life, d);
    jdoc_unref(d);
}

static enum life_probe_kind probe_named(str s)
{
    return str_eq(s, S("startup"))    ? LIFE_STARTUP
           : str_eq(s, S("liveness")) ? LIFE_LIVENESS
                                      : LIFE_READINESS;
}

static void fact_of_container(struct scene *s, str verb, str name, str rest)
{
    struct life *l = s->life;
    size_t c = index_of(s, name);
    str one = str_cut(&rest, ' ');
    bool fine = str_eq(one, S("ok"));

    if (str_eq(verb, S("started"))) {
        life_on_started(l, c, s->now_ms, s->out);
    } else if (str_eq(verb, S("exited"))) {
        struct life_exit x = { .at_ms = s->now_ms, .code = (int)number(one), .message = rest };
        if (str_eq(one, S("oom"))) {
            x.code = -1;
            x.signo = 9;
            x.oom = true;
        } else if (str_starts(one, S("sig"))) {
            x.code = -1;
            x.signo = (int)number(str_sub(one, 3, one.n));
        }
        life_on_exited(l, c, &x);
    } else if (str_eq(verb, S("failed"))) {
        life_on_failed(l, c, 128, one, rest, s->now_ms);
    } else if (str_eq(verb, S("cannot"))) {
        life_on_cannot(l, c, one, rest, s->now_ms + 10000);
    } else if (str_eq(verb, S("post"))) {
        life_on_hook(l, c, l->at[c].attempt, false, fine, s->now_ms, s->out);
    } else if (str_eq(verb, S("pre"))) {
        life_on_hook(l, c, l->at[c].attempt, true, fine, s->now_ms, s->out);
    } else if (str_eq(verb, S("runs"))) {
        life_on_known(l, c, number(one), s->now_ms, NULL);
    } else {
        struct life_action asked = {
            .what = LIFE_PROBE, .c = c, .attempt = l->at[c].attempt, .probe = probe_named(verb)
        };
        life_on_probe(l, &asked, fine, rest, s->now_ms, s->out);
    }
}

static void fact(struct scene *s, str text)
{
    str rest = text, verb = str_cut(&rest, ' '), name = str_cut(&rest, ' ');

    if (str_eq(verb, S("up"))) {
        life_on_box_up(s->life, name);
    } else if (str_eq(verb, S("nobox"))) {
        life_on_box_failed(s->life, s->now_ms + 1000);
    } else if (str_eq(verb, S("gone"))) {
        life_on_box_gone(s->life, s->now_ms, name, rest);
    } else if (str_eq(verb, S("fail"))) {
        life_fail(s->life, name, rest);
    } else if (str_eq(verb, S("stalled"))) {
        s->life->stalled = true;
        buf_clear(&s->life->stall_message);
        buf_add(&s->life->stall_message, S("No output"));
        life_on_stalled(s->life, s->now_ms, s->out);
    } else if (str_eq(verb, S("retry"))) {
        life_retry(s->life);
    } else if (str_eq(verb, S("delete"))) {
        jv at = jstrz(s->a, "2026-01-01T00:00:00Z");
        jv pod = jv_with(s->a, s->life->pod, at, "metadata", "deletionTimestamp");
        set_pod(s, jv_with(s->a, pod, jint(s->a, number(name)), "metadata",
                           "deletionGracePeriodSeconds"));
    } else if (str_eq(verb, S("debug"))) {
        struct jbuild more = jb_from(s->a, jv_at(s->life->pod, "spec", "ephemeralContainers"));
        if (!jv_is(jb_done(&more), JV_ARR))
            more = jb_arr(s->a);
        jb_push(&more, jobj(s->a, { "name", jstr(s->a, name) }));
        set_pod(s, jv_with(s->a, s->life->pod, jb_done(&more), "spec", "ephemeralContainers"));
    } else if (str_eq(verb, S("again"))) { /* the node starts anew and reads the status */
        struct life_where w = { .host_ip = S("10.0.0.9"), .node = S("here") };
        struct arena *a = arena_new();
        jv st = life_status(a, s->life, &w, s->now_ms);
        struct jdoc *d = jdoc_of(a, jv_copy(a, jv_with(a, s->life->pod, st, "status")));
        life_free(s->life);
        s->life = life_new(d);
        jdoc_unref(d);
    } else {
        fact_of_container(s, verb, name, rest);
    }
}

/* ---- what was said, as words */

static void say_act(struct scene *s, const struct life_action *x)
{
    static const char *const verbs[] = { "sandbox", "start", "hook",  "signal",
                                         "probe",   "end",   "remove" };
    static const char *const probes[] = { "startup", "liveness", "readiness" };
    str name = s->life->n ? s->life->at[x->c].name : S("");
    str verb = str_of(verbs[x->what]);
    str line = verb;

    if (x->what == LIFE_START)
        line = arena_printf(s->a, "start %" PRI_STR " %d", STR_ARG(name), (int)x->attempt);
    else if (x->what == LIFE_HOOK)
        line = arena_printf(s->a, "hook %" PRI_STR " %s", STR_ARG(name), x->stop ? "pre" : "post");
    else if (x->what == LIFE_SIGNAL)
        line = arena_printf(s->a, "signal %" PRI_STR " %d", STR_ARG(name), x->signo);
    else if (x->what == LIFE_PROBE)
        line = arena_printf(s->a, "probe %" PRI_STR " %s", STR_ARG(name), probes[x->probe]);
    jb_push(&s->said, jstr(s->a, line));
}

static void say(struct scene *s)
{
    for (size_t i = 0; i < s->out->tells.n; i++) {
        const struct life_tell *t = &s->out->tells.at[i];
        jb_push(&s->said,
                jstr(s->a, arena_printf(s->a, "%s %s: %" PRI_STR, t->warning ? "warn" : "tell",
                                        t->reason, STR_ARG(t->message))));
    }
    for (size_t i = 0; i < s->out->acts.n; i++)
        say_act(s, &s->out->acts.at[i]);
    if (s->out->wake_ms != INT64_MAX)
        jb_push(&s->said, jstr(s->a, arena_printf(s->a, "wake %g",
                                                  (double)(s->out->wake_ms - zero_ms) / 1000)));
}

static jv run_step(struct scene *s, jv step, bool *fine)
{
    AUTO(life_out) struct life_out out = { .a = s->a };
    struct life_where w = { .host_ip = S("10.0.0.9"), .node = S("here") };
    jv facts = jv_at(step, "do");

    s->out = &out;
    s->now_ms = zero_ms + (int64_t)(jv_double(jv_at(step, "at"), 0) * 1000);
    s->said = jb_arr(s->a);
    JV_EACH (it, facts)
        fact(s, jv_str(it.value, S("")));
    life_step(s->life, s->now_ms, &out);
    say(s);
    jv said = jb_done(&s->said);
    jv st = jv_copy(s->a, life_status(s->a, s->life, &w, s->now_ms)); /* the pod changes */
    set_pod(s, jv_with(s->a, s->life->pod, st, "status"));
    AUTO(life_out) struct life_out more = { .a = s->a };
    life_step(s->life, s->now_ms, &more);
    if (more.acts.n || more.tells.n)
        *fine = complain("a second step", jint(s->a, (int64_t)more.acts.n), jint(s->a, 0));
    if (rewrite)
        return jv_with(s->a, step, said, "want");
    if (!jv_equal(said, jv_exists(jv_at(step, "want")) ? jv_at(step, "want") : JV_EMPTY_ARR))
        *fine = complain("want", said, jv_at(step, "want"));
    if (jv_exists(jv_at(step, "status")))
        *fine &= has("status", readable(s->a, st), jv_at(step, "status"));
    return step;
}

/* ---- files */

static void write_back(const char *path, str text, jv steps)
{
    AUTO(buf) struct buf b = { 0 };
    const char *cut = strstr(text.p, "\n---\n");
    FILE *f = cut ? fopen(path, "w") : NULL;

    if (!f)
        return;
    buf_add(&b, str_sub(text, 0, (size_t)(cut - text.p) + 5));
    yaml_print(&b, steps);
    fwrite(b.p, 1, b.n, f);
    fclose(f);
}

static void run_file(const char *dir, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/%s", dir, name).p;
    str text = slurp(a, path);
    struct yaml_docs docs = { 0 };
    struct err e = { 0 };
    bool fine = true;

    if (yaml_parse(a, str_of(name), text, NULL, &docs, &e) < 0 || docs.n != 2) {
        ok(false, "%s: %s", name, e.msg[0] ? e.msg : "two documents");
        return;
    }
    struct arena *own = arena_new();
    struct jdoc *pod = jdoc_of(own, jv_copy(own, docs.at[0].root));
    struct scene s = { .life = life_new(pod), .a = a };
    struct jbuild steps = jb_arr(a);
    jdoc_unref(pod);
    JV_EACH (it, docs.at[1].root) {
        bool step_fine = true;
        jb_push(&steps, run_step(&s, it.value, &step_fine));
        if (!step_fine)
            printf("# in step %zu (at %g)\n", it.i, jv_double(jv_at(it.value, "at"), 0));
        fine &= step_fine;
    }
    if (rewrite)
        write_back(path, text, jb_done(&steps));
    ok(fine, "%s", name);
    life_free(s.life);
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int n = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;

    rewrite = getenv("GOLDEN_WRITE") != NULL;
    for (int i = 0; i < n; i++) {
        if (str_ends(str_of(names[i]->d_name), S(".yaml")))
            run_file(argv[1], names[i]->d_name);
        free(names[i]);
    }
    free(names);
    ok(n > 0, "there are cases");
    return tap_done();
}
