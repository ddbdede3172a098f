/* The machine's resources, read from files under a root that tests may put elsewhere. */

#include "node/resources.h"

#include "base/quantity.h"
#include "kube/names.h"
#include "plan/planner.h"
#include "sys/device_lock.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PODS = 250, KIB = 1024 };

static str read_line(struct arena *a, const char *root, const char *path, const char *key)
{
    char line[512];
    FILE *f = fopen(arena_printf(a, "%s%s", root, path).p, "re");
    str found = S("");

    while (f && fgets(line, sizeof(line), f)) {
        str s = str_of(line);
        if (!str_starts(s, str_of(key)))
            continue;
        found = arena_str(a, str_trim(str_sub(s, strlen(key), s.n)));
        break;
    }
    if (f)
        fclose(f);
    return found;
}

static int64_t memory_bytes(struct arena *a, const char *root)
{
    str total = read_line(a, root, "/proc/meminfo", "MemTotal:");
    int64_t kib = 0;

    str_to_int(str_cut(&total, ' '), &kib);
    return kib * KIB;
}

/* GPUs: /dev/nvidiaN, with the model from the driver's own files. */
static jv find_gpus(struct arena *a, const char *root)
{
    struct jbuild b = jb_arr(a);

    for (int i = 0; i < DEVICES_MOST; i++) {
        char path[300];
        snprintf(path, sizeof(path), "%s/dev/nvidia%d", root, i);
        if (access(path, F_OK) == 0)
            jb_push(&b, jobj(a, { "index", jint(a, i) }));
    }
    return jb_done(&b);
}

static str gpu_model(struct arena *a, const char *root)
{
    const char *dir = arena_printf(a, "%s/proc/driver/nvidia/gpus", root).p;
    DIR *d = opendir(dir);
    str model = S("");

    for (struct dirent *x; d && !model.n && (x = readdir(d));)
        if (x->d_name[0] != '.')
            model = read_line(
                a, root, arena_printf(a, "/proc/driver/nvidia/gpus/%s/information", x->d_name).p,
                "Model:");
    if (d)
        closedir(d);
    return model;
}

static jv amount(struct arena *a, int64_t n, enum quantity_format format)
{
    struct quantity q = quantity_of(n, format);

    return jstr(a, quantity_text(a, &q));
}

static jv storage(struct arena *a, const char *data)
{
    struct statvfs st;
    int64_t bytes = statvfs(data, &st) == 0 ? (int64_t)st.f_blocks * (int64_t)st.f_frsize : 0;

    return amount(a, bytes / KIB * KIB, QUANTITY_BINARY_SI);
}

/* Of a device, or a pod, there is no half. */
static bool must_be_whole(str name)
{
    return str_find(name, '/') >= 0 || str_eqz(name, "pods");
}

/* A pod cannot ask for any other: "gpu" is nvidia.com/gpu without its domain. */
static bool is_known_or_qualified(str name)
{
    static const char *const known[] = { "cpu", "memory", "ephemeral-storage", "pods" };

    for (size_t i = 0; i < COUNT(known); i++)
        if (str_eqz(name, known[i]))
            return true;
    return str_find(name, '/') >= 0 || str_starts(name, S("hugepages-"));
}

static int parse_one(str whole, str *name, struct quantity *q, struct err *e)
{
    str value = whole;

    *name = str_cut(&value, '=');
    if (!name->n || !value.p)
        return err_set(e, ERR_INVALID, "resources: \"%" PRI_STR "\" is not NAME=AMOUNT",
                       STR_ARG(whole));
    if (!name_ok(*name, name_qualified) || !is_known_or_qualified(*name))
        return err_set(e, ERR_INVALID,
                       "resources: \"%" PRI_STR
                       "\" is not the name of a resource, as cpu and nvidia.com/gpu are",
                       STR_ARG(*name));
    if (quantity_parse(value, q, NULL) < 0 || quantity_sign(q) < 0)
        return err_set(e, ERR_INVALID,
                       "resources: %" PRI_STR ": \"%" PRI_STR
                       "\" is not an amount, as 2, 500m or 4Gi are",
                       STR_ARG(*name), STR_ARG(value));
    struct quantity rounded = quantity_of(quantity_value(q), QUANTITY_DECIMAL_SI);
    if (must_be_whole(*name) && quantity_cmp(q, &rounded) != 0)
        return err_set(e, ERR_INVALID,
                       "resources: %" PRI_STR ": \"%" PRI_STR "\" is not a whole number",
                       STR_ARG(*name), STR_ARG(value));
    return 0;
}

int resources_parse(struct arena *a, str given, jv *amounts, struct err *e)
{
    struct jbuild b = jb_from(a, *amounts);

    for (str rest = given; rest.p && rest.n;) {
        struct quantity q;
        str name;
        if (parse_one(str_cut(&rest, ','), &name, &q, e) < 0)
            return -1;
        jb_set(&b, arena_str(a, name), jstr(a, quantity_text(a, &q)));
    }
    *amounts = jb_done(&b);
    return 0;
}

int resources_change(struct arena *a, str word, jv *amounts, struct err *e)
{
    struct jbuild b = jb_from(a, *amounts);
    str name = str_sub(word, 0, word.n ? word.n - 1 : 0);

    if (!str_ends(word, S("-")) || str_find(word, '=') >= 0)
        return resources_parse(a, word, amounts, e);
    if (!jv_exists(jv_get(*amounts, name)))
        return err_set(e, ERR_NOT_FOUND, "resources: %" PRI_STR " was not declared", STR_ARG(name));
    jb_set(&b, name, JV_ABSENT);
    *amounts = jb_done(&b);
    return 0;
}

str resources_text(struct arena *a, jv amounts)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, amounts)
        buf_printf(&b, "%s%" PRI_STR "=%" PRI_STR, b.n ? "," : "", STR_ARG(it.key),
                   STR_ARG(jv_str(it.value, S(""))));
    return arena_str(a, buf_str(&b));
}

static jv node_info(struct arena *a, const char *root)
{
    struct utsname u;
    str os = read_line(a, root, "/etc/os-release", "PRETTY_NAME=");
    str arch = S("amd64");

    uname(&u);
    if (strcmp(u.machine, "aarch64") == 0)
        arch = S("arm64");
    else if (strcmp(u.machine, "x86_64") != 0)
        arch = arena_str(a, str_of(u.machine));
    if (os.n > 1 && os.p[0] == '"')
        os = str_sub(os, 1, os.n - 1);
    return jobj(a, { "machineID", jstr(a, read_line(a, root, "/etc/machine-id", "")) },
                { "systemUUID", jstr(a, read_line(a, root, "/etc/machine-id", "")) },
                { "bootID", jstr(a, read_line(a, root, "/proc/sys/kernel/random/boot_id", "")) },
                { "kernelVersion", jstr(a, arena_str(a, str_of(u.release))) },
                { "osImage", jstr(a, os.n ? os : S("Linux")) },
                { "containerRuntimeVersion", jstrz(a, "muster://" MUSTER_VERSION) },
                { "kubeletVersion", jstrz(a, "v1.34.4+muster-" MUSTER_VERSION) },
                { "kubeProxyVersion", jstrz(a, "") }, { "operatingSystem", jstrz(a, "linux") },
                { "architecture", jstr(a, arch) });
}

int node_resources(struct arena *a, const struct resources_opts *o, jv *out, struct err *e)
{
    const char *root = o->root ? o->root : "";
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    jv gpus = find_gpus(a, root);
    jv capacity = jobj(a, { "cpu", amount(a, cpus, QUANTITY_DECIMAL_SI) },
                       { "ephemeral-storage", storage(a, o->data) },
                       { "memory", amount(a, memory_bytes(a, root), QUANTITY_BINARY_SI) },
                       { "pods", amount(a, PODS, QUANTITY_DECIMAL_SI) });

    if (jv_len(gpus))
        capacity = jv_with_key(a, capacity, S("nvidia.com/gpu"),
                               amount(a, (int64_t)jv_len(gpus), QUANTITY_DECIMAL_SI));
    if (resources_parse(a, o->given, &capacity, e) < 0 ||
        resources_parse(a, o->told, &capacity, e) < 0)
        return -1;
    str model = gpu_model(a, root);
    *out = jobj(a, { "capacity", capacity }, { "gpus", gpus },
                { "model", model.n ? jstr(a, model) : JV_ABSENT }, { "info", node_info(a, root) });
    return 0;
}

/* ---- the ledger */

static bool is_of(const struct devices *d, size_t i, str owner)
{
    return str_eqz(owner, d->at[i].owner);
}

static void give(struct devices *d, size_t i, str owner)
{
    snprintf(d->at[i].owner, sizeof(d->at[i].owner), "%" PRI_STR, STR_ARG(owner));
}

static bool is_free(const struct devices *d, size_t i)
{
    return !d->at[i].owner[0] && !d->at[i].elsewhere;
}

bool devices_look(struct devices *d, const char *root)
{
    AUTO(arena) struct arena *a = arena_new();
    struct device_lock_seen *at = ARENA_ARRAY(a, struct device_lock_seen, d->n + 1);
    size_t *index = ARENA_ARRAY(a, size_t, d->n + 1), n = 0;
    bool changed = false;

    for (size_t i = 0; i < d->n; i++) {
        changed |= d->at[i].owner[0] && d->at[i].elsewhere;
        d->at[i].elsewhere = d->at[i].owner[0] ? 0 : d->at[i].elsewhere;
        if (d->at[i].owner[0])
            continue;
        at[n].path = arena_printf(a, "%s/dev/nvidia%zu", root, i).p;
        index[n++] = i;
    }
    device_lock_holders(at, n);
    for (size_t k = 0; k < n; k++) {
        changed |= at[k].holder != d->at[index[k]].elsewhere;
        d->at[index[k]].elsewhere = at[k].holder;
    }
    return changed;
}

size_t devices_elsewhere(const struct devices *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += d->at[i].elsewhere != 0;
    return n;
}

str devices_elsewhere_text(struct arena *a, const struct devices *d)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < d->n; i++)
        if (d->at[i].elsewhere)
            buf_printf(&b, "%sGPU %zu is in use by process %d", b.n ? ", " : "", i,
                       (int)d->at[i].elsewhere);
    if (b.n)
        buf_add(&b, S(OF_ANOTHER_RUN));
    return arena_str(a, buf_str(&b));
}

jv devices_take(struct devices *d, struct arena *a, str owner, int64_t want)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < DEVICES_MOST; i++)
        if (is_of(d, i, owner))
            jb_push(&b, jint(a, (int64_t)i));
    if (b.n)
        return jb_done(&b);
    if (want < 0 || (size_t)want > devices_free(d))
        return JV_ABSENT;
    for (size_t i = 0; i < d->n && b.n < (size_t)want; i++)
        if (is_free(d, i)) {
            give(d, i, owner);
            jb_push(&b, jint(a, (int64_t)i));
        }
    return jb_done(&b);
}

jv devices_nodes(struct arena *a, const char *root, jv indexes)
{
    static const char *const common[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                          "nvidia-modeset" };
    struct jbuild b = jb_arr(a);

    JV_EACH (it, indexes) {
        str name = arena_printf(a, "nvidia%d", (int)jv_int(it.value, 0));
        if (access(arena_printf(a, "%s/dev/%" PRI_STR, root, STR_ARG(name)).p, F_OK) == 0)
            jb_push(&b, jstr(a, name));
    }
    for (size_t i = 0, own = b.n; own && i < COUNT(common); i++)
        jb_push(&b, jstr(a, str_of(common[i])));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

void devices_mark(struct devices *d, str owner, jv indexes)
{
    JV_EACH (it, indexes) {
        int64_t i = jv_int(it.value, -1);
        if (i >= 0 && i < DEVICES_MOST)
            give(d, (size_t)i, owner);
    }
}

void devices_release(struct devices *d, str owner)
{
    for (size_t i = 0; i < DEVICES_MOST; i++)
        if (is_of(d, i, owner))
            d->at[i].owner[0] = '\0';
}

size_t devices_free(const struct devices *d)
{
    size_t n_free = 0, n_beyond = 0;

    for (size_t i = 0; i < DEVICES_MOST; i++)
        if (i < d->n)
            n_free += is_free(d, i);
        else
            n_beyond += d->at[i].owner[0] != '\0';
    return n_free > n_beyond ? n_free - n_beyond : 0;
}
