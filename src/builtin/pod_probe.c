/* Probes and lifecycle hooks of containers. */

#include "builtin/pod.h"

#include <inttypes.h>

static void exec_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v)
{
    (void)seen;
    required_check(ps, AT(p, "command"), FIELD(v, "command"));
    nul_check(ps, AT(p, "command"), FIELD(v, "command"));
}

static void http_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v)
{
    static const char *const schemes[] = { "HTTP", "HTTPS", NULL };

    (void)seen;
    required_check(ps, AT(p, "path"), FIELD(v, "path"));
    port_or_name_check(ps, AT(p, "port"), FIELD(v, "port"));
    enum_check(ps, AT(p, "scheme"), FIELD(v, "scheme"), schemes);
    JV_EACH (it, FIELD(v, "httpHeaders"))
        name_check(ps, AT(p, "httpHeaders"), FIELD_STR(it.value, "name"), name_http_header);
}

static void socket_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v)
{
    (void)seen;
    port_or_name_check(ps, AT(p, "port"), FIELD(v, "port"));
}

static void sleep_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v)
{
    int64_t seconds = FIELD_INT(v, "seconds");

    if (seen->has_grace && (seconds < 0 || seconds > seen->grace))
        problem_invalid(ps, p, LINT(seconds),
                        "must be non-negative and less than terminationGracePeriodSeconds "
                        "(%" PRId64 ")",
                        seen->grace);
}

static const struct {
    const char *name;
    void (*check)(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v);
    bool probe;
    bool lifecycle;
} handlers[] = {
    { "exec", exec_check, true, true },        { "httpGet", http_check, true, true },
    { "tcpSocket", socket_check, true, true }, { "grpc", socket_check, true, false },
    { "sleep", sleep_check, false, true },
};

static void handler_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v,
                          bool probe)
{
    unsigned n = 0;

    for (size_t i = 0; i < COUNT(handlers); i++) {
        jv h = jv_get(v, str_of(handlers[i].name));
        if (jv_is_null(h) || !(probe ? handlers[i].probe : handlers[i].lifecycle))
            continue;
        if (n++)
            problem_forbidden(ps, ATZ(p, handlers[i].name),
                              "may not specify more than 1 handler type");
        else
            handlers[i].check(ps, ATZ(p, handlers[i].name), seen, h);
    }
    if (!n)
        problem_required(ps, p, "must specify a handler type");
}

void probe_check(struct problems *ps, const struct path *p, struct pod_seen *seen,
                 enum probe_kind kind, jv v)
{
    static const char *const counts[] = { "initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                          "successThreshold", "failureThreshold" };
    jv grace = FIELD(v, "terminationGracePeriodSeconds");

    if (jv_is_null(v))
        return;
    handler_check(ps, p, seen, v, true);
    for (size_t i = 0; i < COUNT(counts); i++)
        nonnegative_check(ps, ATZ(p, counts[i]), jv_get(v, str_of(counts[i])));
    if (!jv_is_null(grace) && jv_int(grace, 0) <= 0)
        problem_invalid(ps, AT(p, "terminationGracePeriodSeconds"), grace,
                        "must be greater than 0");
    if (kind == PROBE_READINESS) {
        if (!jv_is_null(grace))
            problem_invalid(ps, AT(p, "terminationGracePeriodSeconds"), grace,
                            "must not be set for readinessProbes");
    } else if (FIELD_INT(v, "successThreshold") != 1) {
        problem_invalid(ps, AT(p, "successThreshold"), LINT(FIELD_INT(v, "successThreshold")),
                        "must be 1");
    }
}

static const char *const signals_linux[] = {
    "SIGABRT",     "SIGALRM",     "SIGBUS",      "SIGCHLD",     "SIGCLD",      "SIGCONT",
    "SIGFPE",      "SIGHUP",      "SIGILL",      "SIGINT",      "SIGIO",       "SIGIOT",
    "SIGKILL",     "SIGPIPE",     "SIGPOLL",     "SIGPROF",     "SIGPWR",      "SIGQUIT",
    "SIGRTMAX",    "SIGRTMAX-1",  "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13",
    "SIGRTMAX-14", "SIGRTMAX-2",  "SIGRTMAX-3",  "SIGRTMAX-4",  "SIGRTMAX-5",  "SIGRTMAX-6",
    "SIGRTMAX-7",  "SIGRTMAX-8",  "SIGRTMAX-9",  "SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+10",
    "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
    "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",  "SIGRTMIN+7",  "SIGRTMIN+8",
    "SIGRTMIN+9",  "SIGSEGV",     "SIGSTKFLT",   "SIGSTOP",     "SIGSYS",      "SIGTERM",
    "SIGTRAP",     "SIGTSTP",     "SIGTTIN",     "SIGTTOU",     "SIGURG",      "SIGUSR1",
    "SIGUSR2",     "SIGVTALRM",   "SIGWINCH",    "SIGXCPU",     "SIGXFSZ",     NULL
};
static const char *const signals_windows[] = { "SIGKILL", "SIGTERM", NULL };

void lifecycle_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv v)
{
    jv os = FIELD(seen->spec, "os");

    if (jv_is_null(v))
        return;
    if (!jv_is_null(FIELD(v, "postStart")))
        handler_check(ps, AT(p, "postStart"), seen, FIELD(v, "postStart"), false);
    if (!jv_is_null(FIELD(v, "preStop")))
        handler_check(ps, AT(p, "preStop"), seen, FIELD(v, "preStop"), false);
    if (jv_is_null(FIELD(v, "stopSignal")))
        return;
    if (jv_is_null(os))
        problem_forbidden(ps, AT(p, "stopSignal"),
                          "may not be set for containers with empty `spec.os.name`");
    else if (str_eq(FIELD_STR(os, "name"), S("windows")))
        enum_check(ps, AT(p, "stopSignal"), FIELD(v, "stopSignal"), signals_windows);
    else if (str_eq(FIELD_STR(os, "name"), S("linux")))
        enum_check(ps, AT(p, "stopSignal"), FIELD(v, "stopSignal"), signals_linux);
}
