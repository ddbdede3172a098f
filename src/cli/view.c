/* See view.h. */

#include "cli/view.h"

#include "cli/exits.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROWS_LEAST = 3, COLUMNS_LEAST = 20, STATES = 8 };

static const char *const dim = "2";
static const char *const bold = "1";

const char *state_hue(str state)
{
    static const struct {
        const char *state;
        const char *hue;
    } rows[] = { { "Running", "36" },    { "Succeeded", "32" }, { "Failed", "31" },
                 { "Deleted", "31" },    { "Pending", "33" },   { "Created", "33" },
                 { "Restarting", "33" }, { "Suspended", "33" }, { "Stopped", "2" },
                 { "Terminating", "2" } };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz(state, rows[i].state))
            return rows[i].hue;
    return "31"; /* some trouble */
}

const char *name_hue(str role, int64_t index)
{
    static const char *const hues[] = {
        "36", "33", "32", "35", "34", "96", "93", "92", "95", "94"
    };

    return hues[((unsigned)str_hash(role) + (unsigned)(index < 0 ? 0 : index)) % COUNT(hues)];
}

str time_short(struct arena *a, int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms < 0)
        return S("0.0s");
    if (s < 60)
        return arena_printf(a, "%" PRId64 ".%" PRId64 "s", s, ms % 1000 / 100);
    if (s < 3600)
        return arena_printf(a, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    return arena_printf(a, "%" PRId64 "h%" PRId64 "m", s / 3600, s % 3600 / 60);
}

/* ---- a line that is cut where it ends */

struct line {
    struct arena *a;
    struct buf b;
    size_t width;
    size_t most;
    bool color;
    bool ascii;
};

/* Its first n code points. */
static str clipped(str s, size_t n)
{
    size_t i = 0;

    for (; i < s.n; i++)
        if (((unsigned char)s.p[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    return str_sub(s, 0, i);
}

static void put(struct line *l, const char *hue, str text)
{
    str plain = text_plain(l->a, text);
    size_t width = text_width(plain);
    bool cut = width > l->most - l->width;
    str dots = l->ascii ? S("...") : S("…");
    size_t dots_width = l->ascii ? 3 : 1;

    if (l->width >= l->most)
        return;
    if (cut && l->most - l->width < dots_width)
        dots = str_sub(dots, 0, dots_width = l->most - l->width);
    if (cut)
        plain = clipped(plain, l->most - l->width - dots_width);
    if (!plain.n && !cut)
        return;
    if (hue && l->color)
        buf_printf(&l->b, "\033[%sm", hue);
    buf_add(&l->b, plain);
    if (cut)
        buf_add(&l->b, dots);
    if (hue && l->color)
        buf_add(&l->b, S("\033[0m"));
    l->width += cut ? l->most - l->width : width;
}

static void put_to(struct line *l, size_t column)
{
    size_t n = column > l->width ? column - l->width : 2;

    put(l, NULL, arena_printf(l->a, "%*s", (int)n, ""));
}

static void end_line(struct view *v, struct line *l)
{
    v->lines[v->n] = arena_str(l->a, buf_str(&l->b));
    v->widths[v->n++] = l->width;
    buf_clear(&l->b);
    l->width = 0;
}

/* ---- what they say */

struct layout {
    struct line line;
    struct view *v;
    const struct view_opts *o;
    size_t name_width;
    size_t state_width;
    size_t left; /* lines */
};

static str counted(struct arena *a, int64_t n, const char *one, const char *many)
{
    return arena_printf(a, "%" PRId64 " %s", n, n == 1 ? one : many);
}

static void job_line(struct layout *y, const struct run_job *j)
{
    struct line *l = &y->line;
    int64_t until = j->over && j->ended_ms ? j->ended_ms : y->o->now_ms;
    int64_t running = 0;
    int64_t done = 0;

    for (size_t i = 0; i < j->replicas.n; i++) {
        running += str_eqz(j->replicas.at[i].state, "Running");
        done += j->replicas.at[i].over && !j->replicas.at[i].failed && !j->replicas.at[i].stopped;
    }
    put(l, bold, j->title);
    put_to(l, l->width + 2);
    put(l, state_hue(j->state), j->state);
    if (run_job_is_stalled(j))
        put(l, state_hue(S("Pending")), S(", stalled"));
    put_to(l, l->width + 2);
    put(l, dim, arena_printf(l->a, "%" PRId64 "/%" PRId64 " running", running, j->wanted));
    if (done)
        put(l, dim, arena_printf(l->a, ", %" PRId64 " done", done));
    put_to(l, l->width + 2);
    put(l, dim, time_short(l->a, until - j->began_ms));
    str why = run_job_held(j);
    if (why.n)
        put(l, dim, arena_printf(l->a, "  %" PRI_STR, STR_ARG(why)));
    end_line(y->v, l);
}

static void replica_line(struct layout *y, const struct run_job *j, const struct run_replica *r)
{
    struct line *l = &y->line;
    int64_t until = r->ended_ms ? r->ended_ms : y->o->now_ms;

    put(l, NULL, S("  "));
    put(l, name_hue(r->role, r->index), r->name);
    put_to(l, y->name_width + 4);
    put(l, state_hue(r->state), r->state);
    put_to(l, y->name_width + y->state_width + 6);
    if (r->began_ms)
        put(l, dim, time_short(l->a, until - r->began_ms));
    if (r->has_exit && r->exit_code)
        put(l, dim,
            arena_printf(l->a, "  exit %" PRI_STR,
                         STR_ARG(exit_text(l->a, r->exit_code, r->reason))));
    if (r->restarts)
        put(l, dim,
            arena_printf(l->a, "  %" PRI_STR,
                         STR_ARG(counted(l->a, r->restarts, "restart", "restarts"))));
    str why = run_replica_why(r);
    if ((r->waits || (r->failed && !r->stopped)) && why.n)
        put(l, dim, arena_printf(l->a, "  %" PRI_STR, STR_ARG(why)));
    if (r->stalled && run_job_is_stalled(j))
        put(l, dim, arena_printf(l->a, "  %" PRI_STR, STR_ARG(r->stall)));
    end_line(y->v, l);
}

/* ---- many replicas: counts of a role's states */

static size_t roles_of(const struct run_job *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->replicas.n; i++)
        n += i == 0 || !str_eq(j->replicas.at[i].role, j->replicas.at[i - 1].role);
    return n;
}

struct tally {
    str state;
    int64_t n;
};

static size_t tally(const struct run_replica *r, size_t n, struct tally *out, int64_t *restarts)
{
    size_t states = 0;

    *restarts = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        *restarts += r[i].restarts;
        while (k < states && !str_eq(out[k].state, r[i].state))
            k++;
        if (k == states && states == STATES)
            k--; /* the last counts all the rest */
        else if (k == states)
            out[states++] = (struct tally){ r[i].state, 0 };
        out[k].n++;
    }
    return states;
}

/* From the i-th replica on, all of its role; returns where the next role begins. */
static size_t role_line(struct layout *y, const struct run_job *j, size_t i)
{
    struct line *l = &y->line;
    struct tally states[STATES];
    int64_t restarts;
    size_t end = i;

    while (end < j->replicas.n && str_eq(j->replicas.at[end].role, j->replicas.at[i].role))
        end++;
    size_t n = tally(&j->replicas.at[i], end - i, states, &restarts);
    put(l, NULL, S("  "));
    put(l, name_hue(j->replicas.at[i].role, 0), j->replicas.at[i].role);
    put_to(l, y->name_width + 4);
    for (size_t k = 0; k < n; k++) {
        put(l, NULL, k ? S(", ") : S(""));
        put(l, state_hue(states[k].state),
            arena_printf(l->a, "%" PRId64 " %" PRI_STR, states[k].n, STR_ARG(states[k].state)));
    }
    if (restarts)
        put(l, dim,
            arena_printf(l->a, "  %" PRI_STR,
                         STR_ARG(counted(l->a, restarts, "restart", "restarts"))));
    end_line(y->v, l);
    return end;
}

static bool is_notable(const struct run_replica *r)
{
    return (r->failed && !r->stopped) || r->waits;
}

static void folded(struct layout *y, const struct run_job *j)
{
    for (size_t i = 0; i < j->replicas.n && y->left;) {
        i = role_line(y, j, i);
        y->left--;
    }
    for (size_t i = 0; i < j->replicas.n && y->left; i++) {
        if (!is_notable(&j->replicas.at[i]))
            continue;
        replica_line(y, j, &j->replicas.at[i]);
        y->left--;
    }
}

/* ---- all of it */

static void measure(struct layout *y, const struct run_state *s)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        for (size_t k = 0; k < s->jobs.at[i]->replicas.n; k++) {
            const struct run_replica *r = &s->jobs.at[i]->replicas.at[k];
            size_t name = text_width(r->name);
            size_t state = text_width(r->state);
            y->name_width = name > y->name_width ? name : y->name_width;
            y->state_width = state > y->state_width ? state : y->state_width;
        }
    y->name_width = y->name_width > 40 ? 40 : y->name_width;
    y->state_width = y->state_width > 20 ? 20 : y->state_width;
}

static void job_lines(struct layout *y, const struct run_state *s, size_t most)
{
    size_t all = s->jobs.n;
    size_t roles = s->jobs.n;

    for (size_t i = 0; i < s->jobs.n; i++) {
        all += s->jobs.at[i]->replicas.n;
        roles += roles_of(s->jobs.at[i]);
    }
    y->left = most > roles ? most - roles : 0; /* for those worth a line of their own */
    for (size_t i = 0; i < s->jobs.n && y->v->n < most; i++) {
        const struct run_job *j = s->jobs.at[i];
        if (y->v->n + 1 == most && i + 1 < s->jobs.n) {
            put(&y->line, dim, arena_printf(y->line.a, "and %zu more", s->jobs.n - i));
            end_line(y->v, &y->line);
            return;
        }
        job_line(y, j);
        for (size_t k = 0; all <= most && k < j->replicas.n; k++)
            replica_line(y, j, &j->replicas.at[k]);
        if (all > most && roles <= most) {
            size_t spare = y->left;
            y->left += roles_of(j);
            size_t before = y->left;
            folded(y, j);
            size_t used = before - y->left;
            y->left = used > roles_of(j) ? spare - (used - roles_of(j)) : spare;
        }
    }
}

struct view view_of(struct arena *a, const struct run_state *s, const struct view_opts *o)
{
    size_t most = o->rows / 2 > ROWS_LEAST ? o->rows / 2 : ROWS_LEAST;
    struct view v = { ARENA_ARRAY(a, str, most + 2), ARENA_ARRAY(a, size_t, most + 2), 0 };
    struct layout y = { .line = { .a = a,
                                  .most = o->columns > COLUMNS_LEAST ? o->columns : COLUMNS_LEAST,
                                  .color = o->color,
                                  .ascii = o->ascii },
                        .v = &v,
                        .o = o };

    measure(&y, s);
    job_lines(&y, s, o->note.n ? most - 1 : most);
    if (o->note.n) {
        put(&y.line, bold, o->note);
        end_line(&v, &y.line);
    }
    buf_done(&y.line.b);
    return v;
}
