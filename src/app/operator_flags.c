/* The flags of the original's manager, with its defaults and meanings, and a few of our own: one
 * row each. */

#include "app/operator_flags.h"

#include "base/time.h"
#include "cli/command.h"
#include "cli/goflags.h"
#include "client/config.h"
#include "job/gang.h"
#include "job/kinds.h"
#include "job/pytorch.h"
#include "loop/log.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- flags that are more than a field */

static int set_kind(struct arena *a, void *to, str value, struct err *e)
{
    struct operator_flags *f = to;
    AUTO(buf) struct buf lower = { 0 };

    (void)a;
    for (size_t i = 0; i < value.n; i++)
        buf_addc(&lower,
                 (char)(value.p[i] >= 'A' && value.p[i] <= 'Z' ? value.p[i] + 32 : value.p[i]));
    for (size_t i = 0; job_planner(i); i++) {
        const struct planner *p = job_planner(i);
        if (!str_eq_nocase(str_of(p->res->kind), value))
            continue;
        for (size_t k = 0; k < f->n_kinds; k++)
            if (f->kinds[k] == p)
                return 0; /* named twice */
        if (f->n_kinds < OPERATOR_KINDS)
            f->kinds[f->n_kinds++] = p;
        return 0;
    }
    return err_set(e, ERR_INVALID, "scheme %" PRI_STR " is not supported yet",
                   STR_ARG(buf_str(&lower)));
}

static int set_level(struct arena *a, void *to, str value, struct err *e)
{
    static const struct {
        const char *name;
        enum log_level level;
    } levels[] = { { "debug", LOG_DEBUG }, { "info", LOG_INFO },    { "warn", LOG_WARN },
                   { "error", LOG_ERROR }, { "dpanic", LOG_ERROR }, { "panic", LOG_ERROR } };
    struct operator_flags *f = to;
    int64_t n = 0;

    (void)a;
    for (size_t i = 0; i < COUNT(levels); i++) {
        if (str_eq_nocase(value, str_of(levels[i].name))) {
            f->zap_level = (int)levels[i].level;
            return 0;
        }
    }
    if (!str_to_int(value, &n) || n <= 0)
        return err_set(e, ERR_INVALID, "invalid log level \"%" PRI_STR "\"", STR_ARG(value));
    f->zap_level = LOG_DEBUG; /* the more the more verbose; we have one */
    return 0;
}

static int set_encoder(struct arena *a, void *to, str value, struct err *e)
{
    struct operator_flags *f = to;

    (void)a;
    if (!str_eq_nocase(value, S("json")) && !str_eq_nocase(value, S("console")))
        return err_set(e, ERR_INVALID, "invalid encoder value \"%" PRI_STR "\"", STR_ARG(value));
    f->zap_format = str_eq_nocase(value, S("json")) ? LOG_JSON : LOG_LOGFMT;
    return 0;
}

static int set_format(struct arena *a, void *to, str value, struct err *e)
{
    struct operator_flags *f = to;

    (void)a;
    if (!str_eqz(value, "json") && !str_eqz(value, "logfmt"))
        return err_set(e, ERR_INVALID, "expected logfmt or json");
    f->log_format = str_eqz(value, "json") ? LOG_JSON : LOG_LOGFMT;
    return 0;
}

static int to_ms(str value, int64_t *ms, struct err *e)
{
    int64_t ns = 0;

    if (duration_parse(value, &ns, e) < 0)
        return -1;
    if (ns <= 0)
        return err_set(e, ERR_INVALID, "must be more than nothing");
    *ms = ns / 1000000;
    return 0;
}

static int set_lease_ms(struct arena *a, void *to, str value, struct err *e)
{
    (void)a;
    return to_ms(value, &((struct operator_flags *)to)->lease_ms, e);
}

static int set_renew_ms(struct arena *a, void *to, str value, struct err *e)
{
    (void)a;
    return to_ms(value, &((struct operator_flags *)to)->renew_ms, e);
}

static int set_retry_ms(struct arena *a, void *to, str value, struct err *e)
{
    (void)a;
    return to_ms(value, &((struct operator_flags *)to)->retry_ms, e);
}

/* ---- the table */

#define FIELD(name) offsetof(struct operator_flags, name)
#define NO_WEBHOOK \
    "No effect: jobs are checked by their CRD and by the operator itself; there is no webhook."

static const struct go_flag table[] = {
    { "kubeconfig", GO_TEXT, FIELD(kubeconfig), .dflt = "", .arg = "FILE",
      .help = "Kubeconfig of the cluster. Default: $KUBECONFIG, ~/.kube/config, or the service\n"
              "        account of the pod." },
    { "namespace", GO_TEXT, FIELD(ns), .dflt = "", .arg = "NAMESPACE",
      .help = "Watch only this namespace. Default: $KUBEFLOW_NAMESPACE, or all namespaces." },
    { "enable-scheme", GO_TEXT, .set = set_kind, .arg = "KIND",
      .help = "Handle this kind of job (tfjob, case-insensitive); can be repeated. Default: all\n"
              "        kinds." },
    { "leader-elect", GO_BOOL, FIELD(elect),
      .help = "Elect a leader: of several operators, only the holder of the Lease is active." },
    { "leader-election-id", GO_TEXT, FIELD(lease_name),
      .dflt = "1ca428e5.training-operator.kubeflow.org", .arg = "NAME",
      .help = "Name of the Lease." },
    { "leader-election-namespace", GO_TEXT, FIELD(lease_ns), .dflt = "", .arg = "NAMESPACE",
      .help = "Namespace of the Lease. Default: that of the pod, of the kubeconfig, or default." },
    { "leader-elect-lease-duration", GO_TEXT, .dflt = "15s", .set = set_lease_ms, .arg = "TIME",
      .help = "How long others wait for a holder that does not renew the Lease." },
    { "leader-elect-renew-deadline", GO_TEXT, .dflt = "10s", .set = set_renew_ms, .arg = "TIME",
      .help = "How long a holder that cannot renew the Lease keeps running." },
    { "leader-elect-retry-period", GO_TEXT, .dflt = "2s", .set = set_retry_ms, .arg = "TIME",
      .help = "Time between attempts to renew or acquire the Lease." },
    { "metrics-bind-address", GO_TEXT, FIELD(metrics_address), .dflt = ":8080", .arg = "ADDRESS",
      .help = "Address that serves /metrics, as plain HTTP; 0: none." },
    { "health-probe-bind-address", GO_TEXT, FIELD(probe_address), .dflt = ":8081", .arg = "ADDRESS",
      .help = "Address that serves /healthz and /readyz; 0: none." },
    { "kube-api-qps", GO_NUMBER, FIELD(qps), .dflt = "0", .arg = "N",
      .help = "Requests per second to the API server; 0: no limit." },
    { "kube-api-burst", GO_INT, FIELD(burst), .dflt = "0", .arg = "N",
      .help = "Size of a burst of requests, with --kube-api-qps; 0: the same number." },
    { "gang-scheduler-name", GO_TEXT, FIELD(gang_name), .dflt = "", .arg = "NAME",
      .help =
          "Start all pods of a job or none: volcano; kube, the PodGroups of Kubernetes 1.36; any\n"
          "        other: a scheduler with PodGroups of scheduling.x-k8s.io. none: off, the\n"
          "        default." },
    { "enable-gang-scheduling", GO_BOOL, FIELD(gang),
      .help = "The same as --gang-scheduler-name=volcano." },
    { "gang-hold-seconds", GO_INT, FIELD(gang_hold_s), .dflt = "120", .arg = "N",
      .help =
          "How long a job may run with fewer pods than must run together; then all of them are\n"
          "        restarted." },
    { "gang-max-restarts", GO_INT, FIELD(gang_max_restarts), .dflt = "-1", .arg = "N",
      .help = "How often a job is restarted for that reason before it fails; -1: no limit." },
    { "log-format", GO_TEXT, .set = set_format, .arg = "FORM",
      .help = "logfmt or json, on stderr. (default: logfmt)" },
    { "zap-log-level", GO_TEXT, .set = set_level, .arg = "LEVEL",
      .help = "debug, info, warn, error, or a number above 0 for debug. (default: info)" },
    { "zap-encoder", GO_TEXT, .set = set_encoder, .arg = "FORM",
      .help = "json, or console, which is logfmt here." },
    { "zap-devel", GO_BOOL, FIELD(zap_devel),
      .help = "Log at level debug; =false: log at level info, as json." },
    { "zap-stacktrace-level", GO_TEXT, .dflt = "", .arg = "LEVEL",
      .unused = "No effect: log lines carry no stack traces." },
    { "zap-time-encoding", GO_TEXT, .dflt = "", .arg = "FORM",
      .unused = "No effect: times are RFC 3339 with milliseconds." },
    { "controller-threads", GO_INT, .dflt = "1", .arg = "N",
      .unused = "No effect: one thread plans for all jobs, and their requests go in parallel." },
    { "webhook-server-port", GO_INT, .dflt = "9443", .arg = "PORT", .unused = NO_WEBHOOK },
    { "webhook-service-name", GO_TEXT, .dflt = "", .arg = "NAME", .unused = NO_WEBHOOK },
    { "webhook-secret-name", GO_TEXT, .dflt = "", .arg = "NAME", .unused = NO_WEBHOOK },
    { "pytorch-init-container-image", GO_TEXT, FIELD(init_image), .dflt = "", .arg = "IMAGE",
      .help = "Image of the init container in which PyTorchJob workers wait for their master.\n"
              "        Default: the image of the job." },
    { "pytorch-init-container-template-file", GO_TEXT, FIELD(init_template_file),
      .dflt = "/etc/config/initContainer.yaml", .arg = "FILE",
      .help = "Template of that init container, as in the original; used if the file exists." },
    { "pytorch-init-container-max-tries", GO_INT, FIELD(init_tries), .dflt = "100", .arg = "N",
      .help = "How often that init container looks up the master." },
    { "mpi-kubectl-delivery-image", GO_TEXT, FIELD(kubectl_image), .dflt = "", .arg = "IMAGE",
      .help =
          "Image from which MPIJob launchers get kubectl, to reach their workers. Default: they\n"
          "        use muster itself." },
    { "legacy-labels", GO_BOOL, FIELD(settings.legacy_labels),
      .help =
          "Add the labels of operators before 1.4 (job-name, tf-job-name ...) to pods of TFJobs,\n"
          "        for the old client kubeflow-tfjob." },
    { "agent-image", GO_TEXT, FIELD(agent_image), .dflt = "muster", .arg = "IMAGE",
      .help = "Image that contains muster, for MPIJob launchers." },
};

/* ---- what follows from them */

static void set_up_log(struct operator_flags *f, bool devel_given)
{
    int level = devel_given && f->zap_devel ? LOG_DEBUG : LOG_INFO;
    int format = devel_given && !f->zap_devel ? LOG_JSON : LOG_LOGFMT;

    if (f->zap_level >= 0)
        level = f->zap_level;
    if (f->zap_format >= 0)
        format = f->zap_format;
    if (f->log_format >= 0)
        format = f->log_format;
    f->log_format = format;
    log_setup((enum log_level)level, (enum log_format)format);
}

static void tell_unused(const struct go_flags *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->given[i] && all->at[i].unused)
            log_info("flag without effect", KVZ("flag", all->at[i].name),
                     KVZ("why", all->at[i].unused));
}

static void set_gang(struct operator_flags *f)
{
    str name = str_of(f->gang_name);

    gang_settings(&f->settings, !name.n && f->gang ? S("volcano") : name);
    f->settings.gang_hold_ms = f->gang_hold_s * 1000;
    f->settings.gang_max_restarts = f->gang_max_restarts;
}

/* A file that is named but not there is no reason to stop: the original goes on, too. */
static void read_template(struct arena *a, struct operator_flags *f, bool given)
{
    struct err e = { 0 };

    f->settings.pytorch_init_image = str_of(f->init_image);
    f->settings.pytorch_init_tries = f->init_tries;
    if (*f->init_template_file &&
        client_file_read(a, f->init_template_file, &f->settings.pytorch_init_template, &e) < 0 &&
        given)
        log_warn("ignoring the init container template", KVZ("why", e.msg));
    if (f->settings.pytorch_init_template.n && !pytorch_template_is_sound(&f->settings)) {
        log_warn("ignoring the init container template",
                 KVZ("why", "it does not give a list of containers"));
        f->settings.pytorch_init_template = STR_NONE;
    }
    if (f->settings.pytorch_init_template.n && !*f->init_image)
        f->settings.pytorch_init_image = S("alpine:3.10"); /* which it was written for */
}

static void print_help(FILE *to, struct arena *a, const struct go_flags *all)
{
    fputs("Usage: muster operator [FLAG]...\n"
          "\n"
          "Runs the training jobs of a Kubernetes cluster until it is stopped (Ctrl-C, SIGTERM):\n"
          "creates their pods and services and writes their status.\n"
          "\n",
          to);
    fputs(go_flags_help(a, all).p, to);
}

int operator_flags_read(struct arena *a, struct operator_flags *f, int argc, char **argv)
{
    bool given[COUNT(table)] = { 0 };
    struct go_flags all = { table, COUNT(table), f, given };
    struct err e = { 0 };

    *f = (struct operator_flags){ .zap_level = -1, .zap_format = -1, .log_format = -1 };
    int rc = go_flags_parse(a, &all, argc, argv, &e);
    const char *ns = getenv("KUBEFLOW_NAMESPACE");
    if (!go_flag_given(&all, "namespace") && ns)
        f->ns = ns;
    if (rc == GO_OK && operator_flags_check(a, f, &e) < 0)
        rc = GO_FAILED;
    if (rc == GO_FAILED) {
        command_note("%s", e.msg);
        print_help(stderr, a, &all);
        return EXIT_USAGE;
    }
    if (rc == GO_HELP) {
        print_help(stdout, a, &all);
        return EXIT_DONE;
    }
    set_up_log(f, go_flag_given(&all, "zap-devel"));
    tell_unused(&all);
    f->settings.cluster_domain = str_of(getenv("CUSTOM_CLUSTER_DOMAIN"));
    f->settings.mpi_kubectl_image = str_of(f->kubectl_image);
    f->settings.agent_image = str_of(f->agent_image);
    set_gang(f);
    read_template(a, f, go_flag_given(&all, "pytorch-init-container-template-file"));
    for (size_t i = 0; !go_flag_given(&all, "enable-scheme") && job_planner(i); i++)
        if (f->n_kinds < OPERATOR_KINDS)
            f->kinds[f->n_kinds++] = job_planner(i);
    return -1;
}
