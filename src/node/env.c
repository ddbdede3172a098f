/* env, envFrom and $(NAME). PURE. */

#include "node/env.h"

#include "base/base64.h"
#include "kube/meta.h"

/* ---- $(NAME) */

str env_expand(struct arena *a, str s, jv env, jv more)
{
    AUTO(buf) struct buf b = { 0 };

    if (str_find(s, '$') < 0)
        return s;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '$' || i + 1 == s.n) {
            buf_addc(&b, s.p[i]);
            continue;
        }
        i++;
        if (s.p[i] == '$') {
            buf_addc(&b, '$');
            continue;
        }
        ptrdiff_t end = s.p[i] == '(' ? str_find(str_sub(s, i, s.n), ')') : -1;
        if (end < 0) { /* "$x", or "$(" without an end: as it is */
            buf_addc(&b, '$');
            buf_addc(&b, s.p[i]);
            continue;
        }
        str name = str_sub(s, i + 1, i + (size_t)end);
        jv value = jv_get(env, name);
        if (!jv_exists(value))
            value = jv_get(more, name);
        if (jv_exists(value))
            buf_add(&b, jv_str(value, S("")));
        else
            buf_printf(&b, "$(%" PRI_STR ")", STR_ARG(name));
        i += (size_t)end;
    }
    return arena_str(a, buf_str(&b));
}

jv env_expand_all(struct arena *a, jv list, jv env)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, list)
        jb_push(&b, jstr(a, env_expand(a, jv_str(it.value, S("")), env, JV_ABSENT)));
    return jb_done(&b);
}

/* ---- values */

static str ns_of(const struct env_of *of)
{
    return meta_namespace(of->fields.pod);
}

static int secret_value(struct arena *a, jv v, str *out, struct err *e)
{
    return base64_decode(a, jv_str(v, S("")), out, e);
}

/* 1: it is optional and not there. */
static int key_of(struct arena *a, const struct env_of *of, jv ref, bool secret, str *out,
                  struct err *e)
{
    str name = jv_str(jv_at(ref, "name"), S("")), key = jv_str(jv_at(ref, "key"), S(""));
    bool optional = jv_bool(jv_at(ref, "optional"), false);
    jv obj = secret ? of->secret(of->ctx, ns_of(of), name) : of->config(of->ctx, ns_of(of), name);

    if (!jv_exists(obj))
        return optional ? 1
                        : err_set(e, ERR_NOT_FOUND, "%s \"%" PRI_STR "\" not found",
                                  secret ? "secret" : "configmap", STR_ARG(name));
    jv v = jv_get(jv_at(obj, "data"), key);
    if (!jv_is(v, JV_STR))
        return optional ? 1
                        : err_set(e, ERR_NOT_FOUND,
                                  "couldn't find key %" PRI_STR " in %s %" PRI_STR "/%" PRI_STR,
                                  STR_ARG(key), secret ? "Secret" : "ConfigMap", STR_ARG(ns_of(of)),
                                  STR_ARG(name));
    if (secret)
        return secret_value(a, v, out, e);
    *out = jv_str(v, S(""));
    return 0;
}

static int value_from(struct arena *a, const struct env_of *of, jv from, str *out, struct err *e)
{
    jv field = jv_at(from, "fieldRef", "fieldPath"), resource = jv_at(from, "resourceFieldRef");

    if (jv_is(field, JV_STR))
        return fields_get(a, &of->fields, jv_str(field, S("")), out, e);
    if (jv_is(resource, JV_OBJ))
        return fields_resource(a, &of->fields, of->container, resource, out, e);
    if (jv_is(jv_at(from, "configMapKeyRef"), JV_OBJ))
        return key_of(a, of, jv_at(from, "configMapKeyRef"), false, out, e);
    if (jv_is(jv_at(from, "secretKeyRef"), JV_OBJ))
        return key_of(a, of, jv_at(from, "secretKeyRef"), true, out, e);
    return err_set(e, ERR_INVALID, "unsupported valueFrom");
}

/* Printable ASCII without "=", and something: what Kubernetes takes since 1.34. */
static bool is_name(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '=')
            return false;
    return s.n > 0;
}

static int add_source(struct arena *a, const struct env_of *of, jv source, struct jbuild *b,
                      struct buf *skipped, struct err *e)
{
    bool secret = jv_is(jv_at(source, "secretRef"), JV_OBJ);
    jv ref = jv_at(source, secret ? "secretRef" : "configMapRef");
    str name = jv_str(jv_at(ref, "name"), S("")), prefix = jv_str(jv_at(source, "prefix"), S(""));
    jv obj = secret ? of->secret(of->ctx, ns_of(of), name) : of->config(of->ctx, ns_of(of), name);

    if (!jv_exists(obj)) {
        if (jv_bool(jv_at(ref, "optional"), false))
            return 0;
        return err_set(e, ERR_NOT_FOUND, "%s \"%" PRI_STR "\" not found",
                       secret ? "secret" : "configmap", STR_ARG(name));
    }
    JV_EACH (it, jv_at(obj, "data")) {
        str key = arena_cat(a, prefix, it.key), value = jv_str(it.value, S(""));
        if (!is_name(key)) {
            if (skipped)
                buf_printf(skipped, "%s%" PRI_STR, skipped->n ? ", " : "", STR_ARG(key));
            continue;
        }
        if (secret && secret_value(a, it.value, &value, e) < 0)
            return -1;
        jb_set(b, key, jstr(a, value));
    }
    return 0;
}

int env_make(struct arena *a, const struct env_of *of, jv *out, struct buf *skipped, struct err *e)
{
    struct jbuild b = jb_from(a, of->base), own = jb_obj(a);
    jv services = env_services(a, of->fields.pod, of->services);

    JV_EACH (it, jv_at(of->container, "envFrom"))
        if (add_source(a, of, it.value, &own, skipped, e) < 0)
            return -1;
    JV_EACH (it, jv_at(of->container, "env")) {
        str value = jv_str(jv_at(it.value, "value"), S(""));
        jv from = jv_at(it.value, "valueFrom");
        if (value.n) {
            value = env_expand(a, value, jb_done(&own), services);
        } else if (jv_is(from, JV_OBJ)) {
            int rc = value_from(a, of, from, &value, e);
            if (rc < 0)
                return -1;
            if (rc > 0)
                continue;
        }
        jb_set(&own, jv_str(jv_at(it.value, "name"), S("")), jstr(a, value));
    }
    JV_EACH (it, jb_done(&own)) {
        str value = jv_str(it.value, S(""));
        if (value.n && memchr(value.p, 0, value.n)) /* of a Secret, as a rule */
            return err_set(e, ERR_INVALID,
                           "environment variable %" PRI_STR
                           " has a NUL character in its value, which programs cannot receive",
                           STR_ARG(it.key));
        jb_set(&b, it.key, it.value);
    }
    JV_EACH (it, services)
        if (!jv_exists(jb_get(&b, it.key)))
            jb_set(&b, it.key, it.value);
    *out = jb_done(&b);
    return 0;
}
