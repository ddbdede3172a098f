/* From the source of a volume to paths and bytes. PURE. */

#include "node/projection.h"

#include "base/base64.h"
#include "base/vec.h"
#include "kube/meta.h"

enum { DEFAULT_MODE = 0644 };

struct making {
    struct arena *a;
    const struct projection_of *of;
    struct projection *out;
    unsigned mode; /* of files that name none */
    struct err *e;
};

static int add(struct making *m, str path, str bytes, jv mode)
{
    struct projection *p = m->out;
    struct projection_file f = { path, bytes, (unsigned)jv_int(mode, m->mode) & 0777 };

    str rest = path;
    do {
        str part = str_cut(&rest, '/');
        if (str_eq(part, S("..")) || (!part.n && rest.p) || str_starts(path, S("..")))
            return err_set(m->e, ERR_INVALID, "invalid path: %" PRI_STR, STR_ARG(path));
    } while (rest.p);
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->at[i].path, path)) {
            p->at[i] = f;
            return 0;
        }
    vec_push_in(m->a, p, f);
    return 0;
}

/* ---- config maps and secrets */

/* Absent: no such key. binary: base64, as all of a secret is. */
static jv value_of(jv obj, bool secret, str key, bool *binary)
{
    jv v = jv_get(jv_at(obj, "data"), key);

    *binary = secret;
    if (!jv_exists(v) && !secret) {
        v = jv_get(jv_at(obj, "binaryData"), key);
        *binary = true;
    }
    return v;
}

static int add_value(struct making *m, str path, jv v, bool binary, jv mode)
{
    str bytes = jv_str(v, S(""));

    if (binary && base64_decode(m->a, bytes, &bytes, m->e) < 0)
        return -1;
    return add(m, path, bytes, mode);
}

static int add_object(struct making *m, jv source, str name, bool secret)
{
    str ns = meta_namespace(m->of->fields.pod);
    bool optional = jv_bool(jv_at(source, "optional"), false), binary;
    jv items = jv_at(source, "items");
    jv obj = secret ? m->of->secret(m->of->ctx, ns, name) : m->of->config(m->of->ctx, ns, name);

    if (!jv_exists(obj))
        return optional ? 0
                        : err_set(m->e, ERR_NOT_FOUND, "%s \"%" PRI_STR "\" not found",
                                  secret ? "secret" : "configmap", STR_ARG(name));
    JV_EACH (it, items) {
        str key = jv_str(jv_at(it.value, "key"), S(""));
        jv v = value_of(obj, secret, key, &binary);
        if (!jv_exists(v) && optional)
            continue;
        if (!jv_exists(v))
            return err_set(m->e, ERR_NOT_FOUND, "%s references non-existent %s key: %" PRI_STR,
                           secret ? "secret" : "configmap", secret ? "secret" : "config",
                           STR_ARG(key));
        if (add_value(m, jv_str(jv_at(it.value, "path"), S("")), v, binary,
                      jv_at(it.value, "mode")) < 0)
            return -1;
    }
    for (int part = 0; jv_len(items) == 0 && part < (secret ? 1 : 2); part++)
        JV_EACH (it, jv_at(obj, part ? "binaryData" : "data"))
            if (add_value(m, it.key, it.value, secret || part, JV_ABSENT) < 0)
                return -1;
    return 0;
}

/* ---- the downward API */

static int add_fields(struct making *m, jv source)
{
    JV_EACH (it, jv_at(source, "items")) {
        jv field = jv_at(it.value, "fieldRef", "fieldPath");
        str value = S("");
        int rc = jv_is(field, JV_STR)
                     ? fields_get(m->a, &m->of->fields, jv_str(field, S("")), &value, m->e)
                     : fields_resource(m->a, &m->of->fields, JV_ABSENT,
                                       jv_at(it.value, "resourceFieldRef"), &value, m->e);
        if (rc < 0 ||
            add(m, jv_str(jv_at(it.value, "path"), S("")), value, jv_at(it.value, "mode")) < 0)
            return -1;
    }
    return 0;
}

/* ---- tokens */

static int add_token(struct making *m, jv source)
{
    str token = m->of->token ? m->of->token(m->of->ctx, source) : STR_NONE;

    if (!token.n)
        return err_set(m->e, ERR_UNAVAILABLE, "failed to fetch token");
    return add(m, jv_str(jv_at(source, "path"), S("token")), token, JV_ABSENT);
}

/* ---- all of them */

static int add_source(struct making *m, jv source)
{
    jv config = jv_at(source, "configMap"), secret = jv_at(source, "secret");
    jv down = jv_at(source, "downwardAPI");

    if (jv_is(config, JV_OBJ))
        return add_object(m, config, jv_str(jv_at(config, "name"), S("")), false);
    if (jv_is(secret, JV_OBJ)) {
        str own = jv_str(jv_at(secret, "name"), S(""));
        return add_object(m, secret, jv_str(jv_at(secret, "secretName"), own), true);
    }
    if (jv_is(down, JV_OBJ))
        return add_fields(m, down);
    if (jv_is(jv_at(source, "serviceAccountToken"), JV_OBJ))
        return add_token(m, jv_at(source, "serviceAccountToken"));
    JV_EACH (it, source)
        return err_set(m->e, ERR_INVALID, "%" PRI_STR " is not available on this node",
                       STR_ARG(it.key));
    return 0;
}

int projection_make(struct arena *a, const struct projection_of *of, jv volume,
                    struct projection *out, struct err *e)
{
    static const char *const kinds[] = { "configMap", "secret", "downwardAPI", "projected" };
    struct making m = { .a = a, .of = of, .out = out, .mode = DEFAULT_MODE, .e = e };

    *out = (struct projection){ 0 };
    for (size_t i = 0; i < COUNT(kinds); i++)
        m.mode = (unsigned)jv_int(jv_at(jv_get(volume, str_of(kinds[i])), "defaultMode"), m.mode);
    jv sources = jv_at(volume, "projected", "sources");
    if (!jv_is(jv_at(volume, "projected"), JV_OBJ))
        return add_source(&m, volume);
    JV_EACH (it, sources)
        if (add_source(&m, it.value) < 0)
            return -1;
    return 0;
}
