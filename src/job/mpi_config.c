/* The ConfigMap that launcher and workers mount at /etc/mpi: the hosts there shall be, a script
 * that tells which of them run, and the remote shell. Follows the workers as they come and go. */

#include "job/mpi.h"
#include "job/others.h"
#include "job/status.h"
#include "job/steps.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REFRESH_MS = 1000 };

const struct kube_resource kube_configmaps = { "", "v1", "configmaps", "ConfigMap", false };

static int64_t slots_of(const struct job *j)
{
    return jv_int(jv_get(j->spec, S("slotsPerWorker")), 1);
}

static str hostfile(struct arena *a, const struct job *j)
{
    const struct job_role *workers = job_role_find(j, S("worker"));
    AUTO(buf) struct buf b = { 0 };

    if (mpi_uses_gpu(j))
        buf_printf(&b, "%" PRI_STR "-launcher slots=%" PRId64 "\n", STR_ARG(j->name), slots_of(j));
    for (int64_t i = 0; workers && i < workers->replicas; i++)
        buf_printf(&b, "%" PRI_STR "-worker-%" PRId64 " slots=%" PRId64 "\n", STR_ARG(j->name), i,
                   slots_of(j));
    return arena_str(a, buf_str(&b));
}

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* Those that run, by name. */
static str discover_hosts(struct arena *a, const struct job *j)
{
    str *names = ARENA_ARRAY(a, str, j->seen->n_pods + 1);
    AUTO(buf) struct buf b = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < j->seen->n_pods; i++)
        if (j->classes[i] == CLASS_ACTIVE && str_eq(j->seen->pods[i].role, S("worker")))
            names[n++] = j->seen->pods[i].name;
    qsort(names, n, sizeof(*names), by_bytes);
    buf_add(&b, S("#!/bin/sh"));
    if (mpi_uses_gpu(j))
        buf_printf(&b, "\necho %" PRI_STR "-launcher:%" PRId64 "\n", STR_ARG(j->name), slots_of(j));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "\necho %" PRI_STR ":%" PRId64, STR_ARG(names[i]), slots_of(j));
    return arena_str(a, buf_str(&b));
}

/* Where the node shows muster to containers that have a root of their own; see docs/node.md. */
#define MPI_AGENT_IN_ROOTFS "/opt/muster/muster"

/* ---- the remote shell: kubexec.sh POD WORD... */

/* One word for the shell, whatever is in it. */
static void add_word(struct buf *b, str word)
{
    bool plain = word.n > 0;

    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/' || c == '_');
    }
    if (plain) {
        buf_add(b, word);
        return;
    }
    buf_addc(b, '\'');
    for (size_t i = 0; i < word.n; i++)
        buf_add(b, word.p[i] == '\'' ? S("'\\''") : (str){ &word.p[i], 1 });
    buf_addc(b, '\'');
}

/* Waits, without a word, for a pod that is not ready yet; not for one that has ended, nor longer
 * than a minute for one that is not there. muster does that by itself. */
static const char wait_by_kubectl[] =
    "absent=0\n"
    "while :; do\n"
    "  state=$(/opt/kube/kubectl get pod \"$pod\" --ignore-not-found -o jsonpath='{.status.phase}"
    " {.status.conditions[?(@.type==\"Ready\")].status}' 2>/dev/null)\n"
    "  case $state in\n"
    "  Succeeded* | Failed*) echo \"$pod has ended\" >&2; exit 1 ;;\n"
    "  *True) break ;;\n"
    "  '') absent=$((absent + 1)) ;;\n"
    "  *) absent=0 ;;\n"
    "  esac\n"
    "  if [ $absent -ge 60 ]; then echo \"there is no $pod\" >&2; exit 1; fi\n"
    "  sleep 1\n"
    "done\n";

static str kubexec(struct arena *a, const struct job *j)
{
    str container = jv_str(jv_get(j->spec, S("mainContainer")), S(""));
    enum mpi_agent agent = mpi_agent(j);
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("#!/bin/sh\npod=$1\nshift\n"));
    if (agent == AGENT_KUBECTL)
        buf_add(&b, str_of(wait_by_kubectl));
    if (agent == AGENT_HERE) { /* an image with a root of its own has another */
        buf_add(&b, S("muster="));
        add_word(&b, mpi_settings(j)->agent_path);
        buf_add(&b, S("\n[ -x \"$muster\" ] || muster=" MPI_AGENT_IN_ROOTFS "\n"));
    }
    buf_add(&b, S("set -x\nexec "));
    buf_add(&b, agent == AGENT_HERE    ? S("\"$muster\"")
                : agent == AGENT_IMAGE ? S("/opt/kube/muster")
                                       : S("/opt/kube/kubectl"));
    buf_add(&b, agent == AGENT_KUBECTL ? S(" exec \"$pod\"") : S(" exec --wait \"$pod\""));
    if (container.n) {
        buf_add(&b, S(" --container "));
        add_word(&b, container);
    }
    buf_add(&b, S(" -- /bin/sh -c \"$*\""));
    return arena_str(a, buf_str(&b));
}

/* ---- */

static jv data_of(struct arena *a, const struct job *j)
{
    return jobj(a, { "hostfile", jstr(a, hostfile(a, j)) },
                { "kubexec.sh", jstr(a, kubexec(a, j)) },
                { "discover_hosts.sh", jstr(a, discover_hosts(a, j)) });
}

static jv make_config(struct arena *a, const struct plan_step *s)
{
    const struct job *j = s->of;

    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "ConfigMap") },
                { "metadata", job_other_meta(a, j, s->name, &j->name) }, { "data", data_of(a, j) });
}

/* What runs changes with every pod that starts: as often as the counters do, not more. */
static bool can_wait(const struct job *j, jv changes, struct plan *p)
{
    int64_t written_ms = j->seen->status_written_ms, now_ms = j->seen->now_ms;

    if (jv_len(changes) != 1 || !jv_exists(jv_get(changes, S("discover_hosts.sh"))) ||
        written_ms <= 0 || written_ms > now_ms || now_ms - written_ms >= REFRESH_MS)
        return false;
    plan_wake(p, written_ms + REFRESH_MS);
    return true;
}

void mpi_plan_config(struct job *j, struct plan *p)
{
    str name = mpi_config_name(j->a, j);
    jv there = job_other_find(j, &kube_configmaps, name);

    if (!jv_exists(there) || !job_owns(j, there)) {
        struct plan_step *s =
            job_other_step(j, p, PLAN_CREATE, STAGE_FIRST, &kube_configmaps, name);
        s->make = make_config;
        s->of = j;
        s->basis = true;
        s->fail_reason = "FailedCreateConfigMap";
        s->taken_reason = j->kind->taken_reason;
        return;
    }
    jv changes = status_diff(j->a, jv_get(there, S("data")), data_of(j->a, j));
    if (!jv_exists(changes) || can_wait(j, changes, p))
        return;
    struct plan_step *s = job_other_step(j, p, PLAN_PATCH, STAGE_FIRST, &kube_configmaps, name);
    s->patch = KUBE_PATCH_MERGE;
    s->obj = jobj(j->a, { "data", changes });
    s->fail_reason = "FailedUpdateConfigMap";
}
