/* What the pods of an MPIJob have that their templates do not: the launcher its remote shell and
 * where Open MPI and Intel MPI look for it, workers something to do until they are called. */

#include "job/env.h"
#include "job/mpi.h"

#define TOOLS     "mpi-job-kubectl"
#define TOOLS_DIR "/opt/kube"
#define CONFIG    "mpi-job-config"
#define SHELL     "/etc/mpi/kubexec.sh"

enum { MODE_RUN = 0555, MODE_READ = 0444 };

static jv appended(struct arena *a, jv obj, str key, jv item)
{
    jv old = jv_get(obj, key);
    struct jbuild b = jv_is(old, JV_ARR) ? jb_from(a, old) : jb_arr(a);

    jb_push(&b, item);
    return jv_with_key(a, obj, key, jb_done(&b));
}

static jv mount(struct arena *a, const char *name, const char *path)
{
    return jobj(a, { "name", jstr(a, str_of(name)) }, { "mountPath", jstr(a, str_of(path)) });
}

static jv config_mount(struct arena *a)
{
    return mount(a, CONFIG, "/etc/mpi");
}

static jv config_item(struct arena *a, const char *key, int64_t mode)
{
    return jobj(a, { "key", jstr(a, str_of(key)) }, { "path", jstr(a, str_of(key)) },
                { "mode", jint(a, mode) });
}

static jv config_volume(struct arena *a, const struct job *j, jv items)
{
    return jobj(
        a, { "name", jstrz(a, CONFIG) },
        { "configMap", jobj(a, { "name", jstr(a, mpi_config_name(a, j)) }, { "items", items }) });
}

/* The pod spec with another first container. */
static jv with_first(struct arena *a, jv spec, jv container)
{
    return jv_with_key(a, spec, S("containers"),
                       jv_with_index(a, jv_get(spec, S("containers")), 0, container));
}

static jv first_of(jv spec)
{
    return jv_index(jv_get(spec, S("containers")), 0);
}

/* ---- the launcher */

static jv amounts(struct arena *a, bool kubectl)
{
    return jobj(a, { "cpu", jstrz(a, "100m") },
                { "memory", jstr(a, kubectl ? S("512Mi") : S("64Mi")) },
                { "ephemeral-storage", jstr(a, kubectl ? S("5Gi") : S("64Mi")) });
}

/* Puts the program into the volume both share. */
static jv delivery(struct arena *a, const struct job *j, bool kubectl)
{
    const struct plan_settings *s = mpi_settings(j);
    str image = kubectl ? s->mpi_kubectl_image : s->agent_image.n ? s->agent_image : S("muster");
    struct env e = { .a = a };
    jv command =
        jarr(a, jstrz(a, "muster"), jstrz(a, "exec"), jstrz(a, "--install"), jstrz(a, TOOLS_DIR));

    env_add(&e, "TARGET_DIR", S(TOOLS_DIR));
    env_add(&e, "NAMESPACE", j->ns);
    return jobj(a, { "name", jstrz(a, "kubectl-delivery") }, { "image", jstr(a, image) },
                { "imagePullPolicy", jstrz(a, "IfNotPresent") },
                { "command", kubectl ? JV_ABSENT : command }, { "env", jarr_n(a, e.vars, e.n) },
                { "resources",
                  jobj(a, { "limits", amounts(a, kubectl) }, { "requests", amounts(a, kubectl) }) },
                { "volumeMounts", jarr(a, mount(a, TOOLS, TOOLS_DIR), config_mount(a)) });
}

static jv launcher_env(struct arena *a, const struct job *j, jv container)
{
    struct env e = { .a = a };

    env_add(&e, "OMPI_MCA_plm_rsh_agent", S(SHELL));
    env_add(&e, "OMPI_MCA_orte_default_hostfile", S("/etc/mpi/hostfile"));
    if (!mpi_uses_gpu(j)) {
        env_add(&e, "NVIDIA_VISIBLE_DEVICES", S(""));
        env_add(&e, "NVIDIA_DRIVER_CAPABILITIES", S(""));
    }
    if (!env_has(container, "I_MPI_HYDRA_BOOTSTRAP"))
        env_add(&e, "I_MPI_HYDRA_BOOTSTRAP", S("rsh"));
    if (!env_has(container, "I_MPI_HYDRA_BOOTSTRAP_EXEC"))
        env_add(&e, "I_MPI_HYDRA_BOOTSTRAP_EXEC", S(SHELL));
    return job_container_with_env(a, container, e.vars, e.n);
}

static jv launcher(struct arena *a, const struct job *j, jv spec)
{
    enum mpi_agent agent = mpi_agent(j);
    jv first = first_of(spec);

    spec = jv_with_key(a, spec, S("serviceAccountName"), jstr(a, mpi_account_name(a, j)));
    if (agent != AGENT_HERE) {
        spec = appended(a, spec, S("initContainers"), delivery(a, j, agent == AGENT_KUBECTL));
        spec = appended(a, spec, S("volumes"),
                        jobj(a, { "name", jstrz(a, TOOLS) }, { "emptyDir", JV_EMPTY_OBJ }));
    }
    spec = appended(a, spec, S("volumes"),
                    config_volume(a, j,
                                  jarr(a, config_item(a, "kubexec.sh", MODE_RUN),
                                       config_item(a, "hostfile", MODE_READ),
                                       config_item(a, "discover_hosts.sh", MODE_RUN))));
    if (!jv_is(first, JV_OBJ))
        return spec;
    first = launcher_env(a, j, first);
    if (agent != AGENT_HERE)
        first = appended(a, first, S("volumeMounts"), mount(a, TOOLS, TOOLS_DIR));
    return with_first(a, spec, appended(a, first, S("volumeMounts"), config_mount(a)));
}

/* ---- workers */

static jv worker(struct arena *a, const struct job *j, jv spec)
{
    jv first = first_of(spec);

    spec = appended(a, spec, S("volumes"),
                    config_volume(a, j, jarr(a, config_item(a, "kubexec.sh", MODE_RUN))));
    if (!jv_is(first, JV_OBJ))
        return spec;
    if (jv_len(jv_get(first, S("command"))) == 0) {
        first = jv_with_key(a, first, S("command"), jarr(a, jstrz(a, "sleep")));
        first = jv_with_key(a, first, S("args"), jarr(a, jstrz(a, "365d")));
    }
    return with_first(a, spec, appended(a, first, S("volumeMounts"), config_mount(a)));
}

jv mpi_pod_spec(struct arena *a, const struct job *j, const struct job_role *r, int64_t index,
                jv spec)
{
    (void)index;
    return r == job_leader(j) ? launcher(a, j, spec) : worker(a, j, spec);
}
