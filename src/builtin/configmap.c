/* ConfigMap and Secret: keys, sizes, immutability. */

#include "base/base64.h"
#include "builtin/check.h"
#include "builtin/edit.h"
#include "builtin/hooks.h"

enum { MAX_DATA = 1024 * 1024 };

static const char when_immutable[] = "field is immutable when `immutable` is set";

static size_t base64_size(str text)
{
    size_t pad = 0;

    while (pad < 2 && pad < text.n && text.p[text.n - 1 - pad] == '=')
        pad++;
    return text.n / 4 * 3 - pad;
}

static void keys_check(struct problems *ps, const struct path *p, jv data)
{
    JV_EACH (it, data)
        name_check(ps, ATK(p, it.key), it.key, name_config_key);
}

static void immutable_data_check(struct problems *ps, jv obj, jv old)
{
    static const char *const fields[] = { "data", "binaryData" };

    if (!FIELD_BOOL(old, "immutable"))
        return;
    if (!FIELD_BOOL(obj, "immutable"))
        problem_forbidden(ps, ROOT("immutable"), when_immutable);
    for (size_t i = 0; i < COUNT(fields); i++)
        if (!jv_equal_semantic(jv_get(obj, str_of(fields[i])), jv_get(old, str_of(fields[i]))))
            problem_forbidden(ps, ATZ(NULL, fields[i]), when_immutable);
}

void configmap_validate(struct problems *ps, jv obj)
{
    jv data = FIELD(obj, "data");
    jv binary = FIELD(obj, "binaryData");
    size_t total = 0;

    JV_EACH (it, data) {
        name_check(ps, ATK(ROOT("data"), it.key), it.key, name_config_key);
        if (jv_exists(jv_get(binary, it.key)))
            problem_invalid(ps, ATK(ROOT("data"), it.key), jstr(ps->a, it.key),
                            "duplicate of key present in binaryData");
        total += jv_str(it.value, S("")).n;
    }
    keys_check(ps, ROOT("binaryData"), binary);
    JV_EACH (it, binary)
        total += base64_size(jv_str(it.value, S("")));
    if (total > MAX_DATA)
        too_long(ps, ATK(NULL, S("")), MAX_DATA);
}

void configmap_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_data_check(ps, obj, old);
}

/* ---- Secret */

/* stringData is a way of writing data, never stored. */
jv secret_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);
    jv text = FIELD(obj, "stringData");

    edit_default(&e, S("type"), LSTR("Opaque"));
    if (!jv_exists(text))
        return edit_done(&e);
    struct edit data = edit(c->a, FIELD(obj, "data"));
    JV_EACH (it, text)
        edit_set(&data, it.key, jstr(c->a, base64_encode(c->a, jv_str(it.value, S("")))));
    edit_set(&e, S("data"), edit_done(&data));
    edit_set(&e, S("stringData"), JV_ABSENT);
    return edit_done(&e);
}

/* Why Go would not read text as a JSON object; NULL: it would. */
static str json_complaint(struct arena *a, str base64)
{
    str text = S("");

    base64_decode(a, base64, &text, NULL);
    jv v = json_parse(a, text, NULL, NULL);
    if (jv_is(v, JV_OBJ) || jv_is(v, JV_NULL))
        return STR_NONE;
    text = str_trim(text);
    if (!jv_exists(v) && (!text.n || text.p[0] == '{' || text.p[0] == '[' || text.p[0] == '"'))
        return S("unexpected end of JSON input");
    if (!jv_exists(v))
        return arena_printf(a, "invalid character '%c' looking for beginning of value", text.p[0]);
    return arena_printf(a,
                        "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                        jv_is(v, JV_STR)    ? "string"
                        : jv_is(v, JV_ARR)  ? "array"
                        : jv_is(v, JV_BOOL) ? "bool"
                                            : "number");
}

static void docker_check(struct problems *ps, jv data, str key)
{
    jv text = jv_get(data, key);

    if (!jv_exists(text)) {
        problem_required(ps, ATK(ROOT("data"), key), "%s", "");
        return;
    }
    str why = json_complaint(ps->a, jv_str(text, S("")));
    if (why.n)
        problem_invalid(ps, ATK(ROOT("data"), key), LSTR("<secret contents redacted>"), "%" PRI_STR,
                        STR_ARG(why));
}

static void key_required(struct problems *ps, jv data, const char *key, bool nonempty)
{
    jv v = jv_get(data, str_of(key));

    if (!jv_exists(v) || (nonempty && !jv_str(v, S("")).n))
        problem_required(ps, ATK(ROOT("data"), str_of(key)), "%s", "");
}

void secret_validate(struct problems *ps, jv obj)
{
    jv data = FIELD(obj, "data");
    str type = FIELD_STR(obj, "type");
    size_t total = 0;

    keys_check(ps, ROOT("data"), data);
    JV_EACH (it, data)
        total += base64_size(jv_str(it.value, S("")));
    if (total > MAX_DATA)
        too_long(ps, ROOT("data"), MAX_DATA);
    if (str_eq(type, S("kubernetes.io/service-account-token"))) {
        if (!FIELD_STR(meta_annotations(obj), "kubernetes.io/service-account.name").n)
            problem_required(
                ps,
                ATK(AT(ROOT("metadata"), "annotations"), S("kubernetes.io/service-account.name")),
                "%s", "");
    } else if (str_eq(type, S("kubernetes.io/dockercfg"))) {
        docker_check(ps, data, S(".dockercfg"));
    } else if (str_eq(type, S("kubernetes.io/dockerconfigjson"))) {
        docker_check(ps, data, S(".dockerconfigjson"));
    } else if (str_eq(type, S("kubernetes.io/basic-auth"))) {
        if (!jv_exists(FIELD(data, "username")) && !jv_exists(FIELD(data, "password"))) {
            key_required(ps, data, "username", false);
            key_required(ps, data, "password", false);
        }
    } else if (str_eq(type, S("kubernetes.io/ssh-auth"))) {
        key_required(ps, data, "ssh-privatekey", true);
    } else if (str_eq(type, S("kubernetes.io/tls"))) {
        key_required(ps, data, "tls.crt", false);
        key_required(ps, data, "tls.key", false);
    }
}

void secret_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("type"), FIELD(obj, "type"), FIELD(old, "type"));
    immutable_data_check(ps, obj, old);
}
