/* Volumes on disk. */

#include "node/volumes.h"
#include "tap.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/muster-volumes-XXXXXX";
static struct jdoc *objects; /* {configs: {…}, …} */

static jv get(const char *kind, str name)
{
    return jv_get(jv_get(jdoc_root(objects), str_of(kind)), name);
}
static jv config(void *ctx, str ns, str name)
{
    return (void)ctx, (void)ns, get("configs", name);
}
static jv secret(void *ctx, str ns, str name)
{
    return (void)ctx, (void)ns, get("secrets", name);
}
static jv claim(void *ctx, str ns, str name)
{
    return (void)ctx, (void)ns, get("claims", name);
}
static jv persistent(void *ctx, str ns, str name)
{
    return (void)ctx, (void)ns, get("volumes", name);
}

static str token_text;
static str token(void *ctx, jv source)
{
    return (void)ctx, (void)source, token_text;
}

static const char *common; /* level shared */
static char claims[64];    /* where local-path has its own */
static const char *mounted = "[]";
static bool again; /* the pod has them already */

static int set_up(struct arena *a, const char *volumes, jv *out, struct err *e)
{
    AUTO(jdoc) struct jdoc *containers = J(mounted);
    jv pod = jobj(a,
                  { "metadata", jobj(a, { "name", jstrz(a, "p") }, { "namespace", jstrz(a, "d") },
                                     { "labels", jobj(a, { "x", jstrz(a, "y") }) }) },
                  { "spec", jobj(a, { "containers", jdoc_root(containers) }) });
    AUTO(jdoc) struct jdoc *d = J(volumes);
    struct volumes_of of = {
        .from = { .fields = { .pod = jv_with(a, pod, jdoc_root(d), "spec", "volumes") },
                  .config = config,
                  .secret = secret,
                  .token = token },
        .claim = claim,
        .persistent = persistent,
        .dir = dir,
        .claims = str_of(claims),
        .common = common,
        .again = again,
    };

    int rc = volumes_set_up(a, &of, out, e);
    if (rc == 0)
        *out = jv_copy(a, *out);
    return rc;
}

static str content(struct arena *a, const char *path)
{
    char b[200];
    FILE *f = fopen(arena_printf(a, "%s/volumes/%s", dir, path).p, "r");
    size_t n = f ? fread(b, 1, sizeof(b), f) : 0;

    if (!f)
        return S("(none)");
    fclose(f);
    return arena_str(a, (str){ b, n });
}

static void objects_become_files(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    struct stat st;
    jv out = JV_ABSENT;
    char one[300] = "", two[300] = "";
    const char *data = arena_printf(a, "%s/volumes/c/..data", dir).p;
    const char *volumes =
        "[{'name': 'c', 'configMap': {'name': 'm'}}, {'name': 's', 'secret': {'secretName': 's', "
        "'defaultMode': 256, 'items': [{'key': 'k', 'path': 'sub/key'}]}}, {'name': 'p', "
        "'projected': {'sources': [{'downwardAPI': {'items': [{'path': 'labels', 'fieldRef': "
        "{'fieldPath': 'metadata.labels'}}]}}, {'configMap': {'name': 'm', 'items': [{'key': 'a', "
        "'path': 'x', 'mode': 384}]}}, {'secret': {'name': 'no', 'optional': true}}]}}]";

    objects = J("{'configs': {'m': {'data': {'a': '1', 'b': '2'}, 'binaryData': {'c': 'AAE='}}}, "
                "'secrets': {'s': {'data': {'k': 'dg=='}}}}");
    is_int(set_up(a, volumes, &out, &e), 0, "volumes of objects");
    is_str(content(a, "c/a"), S("1"), "a key is a file");
    is_int((int64_t)content(a, "c/c").n, 2, "binary too");
    is_str(content(a, "s/sub/key"), S("v"), "a secret's key under its path");
    is_str(content(a, "p/labels"), S("x=\"y\""), "the downward API");
    is_str(content(a, "p/x"), S("1"), "projected together");
    ok(jv_bool(jv_at(out, "c", "ro"), false), "read-only");
    stat(arena_printf(a, "%s/volumes/s/sub/key", dir).p, &st);
    is_int(st.st_mode & 0777, 0400, "defaultMode");
    stat(arena_printf(a, "%s/volumes/p/x", dir).p, &st);
    is_int(st.st_mode & 0777, 0600, "an item's own mode");
    ok(readlink(data, one, sizeof(one) - 1) > 0, "by way of ..data");
    set_up(a, volumes, &out, &e);
    ok(readlink(data, two, sizeof(two) - 1) > 0 && strcmp(one, two) == 0,
       "nothing new: left alone");
    jdoc_unref(objects);
    objects =
        J("{'configs': {'m': {'data': {'a': 'new'}}}, 'secrets': {'s': {'data': {'k': 'dg=='}}}}");
    is_int(set_up(a, volumes, &out, &e), 0, "a change is followed");
    is_str(content(a, "c/a"), S("new"), "at once");
    ok(lstat(arena_printf(a, "%s/volumes/c/b", dir).p, &st) < 0, "what went is gone");
    ok(access(arena_printf(a, "%s/volumes/c/%s", dir, one).p, F_OK) < 0, "and the old ones too");
    jdoc_unref(objects);
}

static void mistakes_are_told(void)
{
    static const struct {
        const char *volume, *want;
    } rows[] = {
        { "[{'name': 'v', 'configMap': {'name': 'no'}}]", "configmap \"no\" not found" },
        { "[{'name': 'v', 'secret': {'secretName': 'no'}}]", "secret \"no\" not found" },
        { "[{'name': 'v', 'configMap': {'name': 'm', 'items': [{'key': 'z', 'path': 'z'}]}}]",
          "configmap references non-existent config key: z" },
        { "[{'name': 'v', 'configMap': {'name': 'm', 'items': [{'key': 'a', 'path': '../z'}]}}]",
          "invalid path: ../z" },
        { "[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'no'}}]",
          "persistentvolumeclaim \"no\" not found" },
        { "[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'loose'}}]",
          "PVC is not bound: d/loose" },
        { "[{'name': 'v', 'hostPath': {'path': '/dev/null', 'type': 'Directory'}}]",
          "hostPath type check failed: /dev/null is not a directory" },
        { "[{'name': 'v', 'nfs': {'path': '/x'}}]",
          "volumes of type nfs are not available on this node" },
    };
    AUTO(arena) struct arena *a = arena_new();

    objects = J("{'configs': {'m': {'data': {'a': '1'}}}, 'claims': {'loose': {'spec': {}}}}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = { 0 };
        jv out;
        is_int(set_up(a, rows[i].volume, &out, &e), -1, rows[i].volume);
        is_str(str_of(e.msg),
               arena_printf(a, "MountVolume.SetUp failed for volume \"v\" : %s", rows[i].want),
               "is told");
    }
    jdoc_unref(objects);
}

static void directories_are_made(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *c =
        J("{'volumeMounts': [{'name': 'e', 'mountPath': '/a', 'subPathExpr': 'x/$(N)'}, {'name': "
          "'m', 'mountPath': '/m', 'readOnly': true}, {'name': 'claim', 'mountPath': '/c'}]}");
    struct err e = { 0 };
    struct stat st;
    jv out = JV_ABSENT, mounts = JV_ABSENT;
    AUTO(buf) struct buf text = { 0 };

    buf_printf(&text,
               "{'claims': {'c': {'spec': {'volumeName': 'pv'}, 'status': {'phase': 'Bound', "
               "'accessModes': ['ReadOnlyMany']}}}, 'volumes': {'pv': {'spec': {'hostPath': "
               "{'path': '%s/pv/one'}}}}}%c",
               dir, 0);
    objects = J(text.p);
    is_int(set_up(a,
                  "[{'name': 'e', 'emptyDir': {}}, {'name': 'm', 'emptyDir': {'medium': 'Memory', "
                  "'sizeLimit': '1Mi'}}, {'name': 'claim', 'persistentVolumeClaim': {'claimName': "
                  "'c'}}]",
                  &out, &e),
           0, "emptyDir and claims");
    stat(arena_printf(a, "%s/volumes/e", dir).p, &st);
    is_int(st.st_mode & 0777, 0777, "anybody may write into an emptyDir");
    stat(arena_printf(a, "%s/pv/one", dir).p, &st);
    is_int(st.st_mode & 0777, 0770, "not so a directory of somebody's own");
    is_json(jv_without(a, jv_index(volumes_in_memory(a, out), 0), "path"),
            "{'size_bytes': 1048576}", "one is in memory");
    is_int(volumes_mounts(a, jdoc_root(c), out, jobj(a, { "N", jstrz(a, "7") }), &mounts, &e), 0,
           "mounts of a container");
    is_json(jv_without(a, jv_index(mounts, 0), "from"),
            "{'to': '/a', 'subpath': 'x/7', 'ro': false}", "subPathExpr is expanded");
    ok(jv_bool(jv_at(jv_index(mounts, 1), "ro"), false), "read-only as asked");
    ok(jv_bool(jv_at(jv_index(mounts, 2), "ro"), false), "read-only as claimed");
    is_int(volumes_mounts(a, jdoc_root(c), out, JV_EMPTY_OBJ, &mounts, &e), -1,
           "what cannot be expanded fails");
    jdoc_unref(objects);
}

/* A pod's user need not be ours. */
static void claims_are_for_any_user(void)
{
    static const char *const volume =
        "[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'c'}}]";
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf text = { 0 };
    struct err e = { 0 };
    struct stat st = { 0 };
    jv out = JV_ABSENT;

    snprintf(claims, sizeof(claims), "%s/claims", dir);
    buf_printf(&text,
               "{'claims': {'c': {'spec': {'volumeName': 'pv'}, 'status': {'phase': 'Bound'}}}, "
               "'volumes': {'pv': {'spec': {'hostPath': {'path': '%s/pvc-1'}}}}}%c",
               claims, 0);
    objects = J(text.p);
    const char *one = arena_printf(a, "%s/pvc-1", claims).p;
    mode_t before = umask(077);
    is_int(set_up(a, volume, &out, &e), 0, "a claim of local-path");
    umask(before);
    is_int(stat(one, &st) == 0 ? st.st_mode & 07777 : 0, 0777, "any user may write into it");
    is_int(stat(claims, &st) == 0 ? st.st_mode & 07777 : 0, 0711, "if told where it is");
    chmod(one, 0770);
    is_int(set_up(a, volume, &out, &e), 0, "one that was made otherwise before");
    is_int(stat(one, &st) == 0 ? st.st_mode & 07777 : 0, 0777, "is so, too");
    chmod(one, 02750);
    is_int(set_up(a, volume, &out, &e), 0, "one that a pod has changed");
    is_int(stat(one, &st) == 0 ? st.st_mode & 07777 : 0, 02750, "stays as it is");
    rmdir(one);
    again = true;
    is_int(set_up(a, volume, &out, &e), 0, "one that went while its pod ended");
    ok(stat(one, &st) < 0, "is not made again when the pod's files are brought up to date");
    again = false;
    claims[0] = '\0';
    jdoc_unref(objects);
}

static void a_token_alone_is_a_file(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char *const volume =
        "[{'name': 'kube-api-access-1', 'projected': {'sources': [{'serviceAccountToken': {'path': "
        "'token'}}, {'downwardAPI': {'items': [{'path': 'namespace', 'fieldRef': {'fieldPath': "
        "'metadata.namespace'}}]}}]}}]";
    struct err e = { 0 };
    jv out = JV_ABSENT;

    objects = J("{}");
    common = dir;
    mounted = "[{'volumeMounts': [{'name': 'kube-api-access-1', 'mountPath': "
              "'/var/run/secrets/kubernetes.io/serviceaccount'}]}]";
    token_text = S("one");
    is_int(set_up(a, volume, &out, &e), 0, "a pod's account where files are shared");
    is_str(jv_str(jv_at(out, "kube-api-access-1", "path"), S("")),
           arena_printf(a, "%s/account", dir), "is a directory of its own");
    is_str(content(a, "../account/token"), S("one"), "with the token");
    ok(access(arena_printf(a, "%s/account/namespace", dir).p, F_OK) < 0, "alone");
    token_text = S("two");
    is_int(set_up(a, volume, &out, &e), 0, "and again");
    is_str(content(a, "../account/token"), S("two"), "with the next one");
    mounted = "[{'volumeMounts': [{'name': 'kube-api-access-1', 'mountPath': '/elsewhere'}]}]";
    is_int(set_up(a, volume, &out, &e), 0, "mounted at another place");
    is_str(content(a, "kube-api-access-1/token"), S("two"), "it is a volume");
    is_str(content(a, "kube-api-access-1/namespace"), S("d"), "with all of its files");
    common = NULL;
    mounted = "[]";
    jdoc_unref(objects);
}

int main(void)
{
    struct err e = { 0 };

    if (!mkdtemp(dir))
        return 1;
    objects_become_files();
    mistakes_are_told();
    directories_are_made();
    claims_are_for_any_user();
    a_token_alone_is_a_file();
    is_int(volumes_remove(dir, &e), 0, "all of it goes");
    ok(access(dir, F_OK) < 0, "it is gone");
    return tap_done();
}
