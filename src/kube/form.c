/* The few messages that are not of one resource, and what joins them with protobuf.c. */

#include "kube/form.h"

#include "kube/protobuf_wire.h"
#include "kube/schema_rows.h"

static const str magic = S_INIT("k8s\0");

/* ---- Status, as far as anybody reads it */

static const struct schema_field cause_rows[] = {
    FIELD("reason", schema_string),
    FIELD("message", schema_string),
    FIELD("field", schema_string),
};
static const struct schema cause = OBJECT("cause", cause_rows);
static const struct schema causes = LIST(cause);
static const struct schema_field details_rows[] = {
    FIELD("name", schema_string),
    FIELD("group", schema_string),
    FIELD("kind", schema_string),
    FIELD("causes", causes),
    FIELD("retryAfterSeconds", schema_int32),
    FIELD("uid", schema_string),
};
static const struct schema details = OBJECT("details", details_rows);
static const struct schema_field status_rows[] = {
    FIELD("status", schema_string), FIELD("message", schema_string), FIELD("reason", schema_string),
    FIELD("details", details),      FIELD("code", schema_int32),
};
static const struct schema status = OBJECT("status", status_rows);
static const struct wire_type status_types[] = {
    { "status", "2: status message reason details code" }, /* all others in order of their rows */
};
static const struct wire status_wire = { .types = status_types, .n = COUNT(status_types) };

/* ---- */

const struct kube_form *kube_form_find(const struct kube_form *forms, size_t n,
                                       const struct kube_resource *res)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(forms[i].res->plural, res->plural) == 0 &&
            strcmp(forms[i].res->group, res->group) == 0)
            return &forms[i];
    return NULL;
}

static jv with_type(struct arena *a, const struct protobuf_body *b, jv obj)
{
    struct jbuild o = jb_obj(a);

    jb_add(&o, S("kind"), jstr(a, b->kind));
    jb_add(&o, S("apiVersion"), jstr(a, b->api_version));
    JV_EACH (it, obj)
        jb_add(&o, it.key, it.value);
    return jb_done(&o);
}

str kube_form_write(struct arena *a, const struct kube_form *f, jv obj)
{
    AUTO(buf) struct buf b = { 0 };

    if (!f || !f->writes || protobuf_encode(a, f->writes, obj, f->writes_wire, &b, NULL) < 0)
        return STR_NONE;
    return arena_str(a, buf_str(&b));
}

str kube_form_json(struct arena *a, const struct kube_form *f, str body)
{
    struct protobuf_body b;

    if (protobuf_open(body, &b, NULL) < 0)
        return STR_NONE;
    jv obj = protobuf_decode(a, f->writes, b.raw, f->writes_wire, NULL);
    return jv_exists(obj) ? json_text(a, with_type(a, &b, obj)) : STR_NONE;
}

bool kube_form_is(str body)
{
    return str_starts(body, magic);
}

jv kube_form_read(struct arena *a, const struct kube_form *f, str body, struct err *e)
{
    struct protobuf_body b;
    jv obj = JV_ABSENT;

    if (protobuf_open(body, &b, e) < 0)
        return JV_ABSENT;
    if (str_eqz(b.kind, "Status"))
        obj = protobuf_decode(a, &status, b.raw, &status_wire, e);
    else if (f && f->reads)
        obj = protobuf_decode(a, f->reads, b.raw, f->reads_wire, e);
    else
        err_set(e, ERR_BAD_REQUEST, "protobuf was not asked for");
    if (jv_exists(obj) && (!str_is_utf8(b.kind) || !str_is_utf8(b.api_version))) {
        err_set(e, ERR_BAD_REQUEST, "its kind is no text");
        return JV_ABSENT;
    }
    return jv_exists(obj) ? with_type(a, &b, obj) : JV_ABSENT;
}

/* {type = 1, object = 2: {raw = 1}} */
int kube_form_event(str message, str *word, str *obj, struct err *e)
{
    struct pb_field f;
    int rc;
    str raw = S("");

    *word = *obj = S("");
    while ((rc = pb_next(&message, &f, e)) > 0) {
        if (f.number == 1)
            *word = f.bytes;
        else if (f.number == 2)
            raw = f.bytes;
    }
    while (rc == 0 && (rc = pb_next(&raw, &f, e)) > 0) {
        if (f.number == 1)
            *obj = f.bytes;
        rc = 0;
    }
    return rc;
}
