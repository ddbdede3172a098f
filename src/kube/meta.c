/* The rules of k8s.io/apimachinery's ObjectMeta validation, problems in its order. */

#include "kube/meta.h"
#include "base/limits.h"
#include "base/map.h"

#include <stdlib.h>

static struct path at(const struct path *up, const char *name)
{
    return path_field(up, str_of(name));
}

bool meta_has_finalizer(jv obj, str finalizer)
{
    JV_EACH (f, jv_get(meta_of(obj), S("finalizers")))
        if (str_eq(jv_str(f.value, S("")), finalizer))
            return true;
    return false;
}

jv meta_controller(jv obj)
{
    JV_EACH (o, jv_get(meta_of(obj), S("ownerReferences")))
        if (jv_bool(jv_get(o.value, S("controller")), false))
            return o.value;
    return JV_ABSENT;
}

static bool has_equal(const struct jbuild *list, jv ref)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (jv_equal((jv){ &list->nodes[i] }, ref))
            return true;
    return false;
}

jv meta_owners_once(struct arena *a, jv obj, struct buf *twice)
{
    enum { MANY_OWNERS = 128 }; /* more are left as they are: the work grows with the square */
    jv refs = jv_get(meta_of(obj), S("ownerReferences"));
    struct jbuild once = jb_arr(a);

    if (jv_len(refs) < 2 || jv_len(refs) > MANY_OWNERS)
        return obj;
    JV_EACH (it, refs)
        if (!has_equal(&once, it.value))
            jb_push(&once, it.value);
        else
            buf_printf(twice, "%s%" PRI_STR, twice->n ? ", " : "",
                       STR_ARG(jv_str(jv_get(it.value, S("uid")), S(""))));
    return twice->n ? jv_with(a, obj, jb_done(&once), "metadata", "ownerReferences") : obj;
}

jv meta_condition(jv obj, str type)
{
    JV_EACH (c, jv_at(obj, "status", "conditions"))
        if (str_eq(jv_str(jv_get(c.value, S("type")), S("")), type))
            return c.value;
    return JV_ABSENT;
}

bool meta_condition_is(jv obj, str type, str status)
{
    return str_eq(jv_str(jv_get(meta_condition(obj, type), S("status")), S("")), status);
}

void nonnegative_check(struct problems *ps, const struct path *p, jv value)
{
    if (jv_int(value, 0) < 0)
        problem_invalid(ps, p, value, "must be greater than or equal to 0");
}

bool immutable_check(struct problems *ps, const struct path *p, jv now, jv before)
{
    if (jv_equal_semantic(now, before))
        return false;
    problem_invalid(ps, p, now, "field is immutable");
    return true;
}

void label_key_check(struct problems *ps, const struct path *p, str key)
{
    name_check(ps, p, key, name_qualified);
}

void labels_check(struct problems *ps, const struct path *p, jv labels)
{
    JV_EACH (l, labels) {
        label_key_check(ps, p, l.key);
        name_check(ps, p, jv_str(l.value, S("")), name_label_value);
    }
}

void annotations_check(struct problems *ps, const struct path *p, jv annotations)
{
    size_t total = 0;

    JV_EACH (l, annotations) {
        total += l.key.n + jv_str(l.value, S("")).n;
        if (name_ok(l.key, name_qualified))
            continue;
        struct name_errors e = name_qualified(name_lower(ps->a, l.key)); /* case does not count */
        for (unsigned i = 0; i < e.n; i++)
            problem_invalid(ps, p, jstr(ps->a, l.key), "%s", e.at[i]);
    }
    if (total > LIMIT_ANNOTATION_BYTES)
        problem_add(ps, PROBLEM_TOO_LONG, p, JV_ABSENT, "may not be more than %d bytes",
                    LIMIT_ANNOTATION_BYTES);
}

static jv owner_in_order(struct arena *a, jv o)
{
    struct jbuild b = jb_obj(a);

    jb_add(&b, S("apiVersion"), jstr(a, jv_str(jv_get(o, S("apiVersion")), S(""))));
    jb_add(&b, S("kind"), jstr(a, jv_str(jv_get(o, S("kind")), S(""))));
    jb_add(&b, S("name"), jstr(a, jv_str(jv_get(o, S("name")), S(""))));
    jb_add(&b, S("uid"), jstr(a, jv_str(jv_get(o, S("uid")), S(""))));
    jb_add(&b, S("controller"), jv_get(o, S("controller")));
    jb_add(&b, S("blockOwnerDeletion"), jv_get(o, S("blockOwnerDeletion")));
    return jb_done(&b);
}

static jv owners_in_order(struct arena *a, jv owners)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (o, owners)
        jb_push(&b, owner_in_order(a, o.value));
    return jb_done(&b);
}

static void owner_check(struct problems *ps, const struct path *p, jv owner)
{
    str api = jv_str(jv_get(owner, S("apiVersion")), S(""));
    str kind = jv_str(jv_get(owner, S("kind")), S(""));
    static const char *const must_be[] = { "kind", "name", "uid" };
    ptrdiff_t slash = str_find(api, '/');

    if ((slash < 0 && !api.n) || (slash >= 0 && (size_t)slash + 1 == api.n) ||
        str_find(str_sub(api, (size_t)(slash + 1), api.n), '/') >= 0) {
        struct path q = at(p, "apiVersion");
        problem_invalid(ps, &q, jstr(ps->a, api), "version must not be empty");
    }
    for (size_t i = 0; i < COUNT(must_be); i++) {
        struct path q = at(p, must_be[i]);
        if (!jv_str(jv_get(owner, str_of(must_be[i])), S("")).n)
            problem_invalid(ps, &q, jstr(ps->a, S("")), "must not be empty");
    }
    if (str_eq(api, S("v1")) && str_eq(kind, S("Event")))
        problem_invalid(ps, p, owner_in_order(ps->a, owner),
                        "/v1, Kind=Event is disallowed from being an owner");
}

static void owners_check(struct problems *ps, const struct path *p, jv owners)
{
    jv first = JV_ABSENT;

    JV_EACH (o, owners) {
        owner_check(ps, p, o.value);
        if (!jv_bool(jv_get(o.value, S("controller")), false))
            continue;
        if (!jv_exists(first)) {
            first = o.value;
            continue;
        }
        problem_invalid(ps, p, owners_in_order(ps->a, owners),
                        "Only one reference can have Controller set to true. Found \"true\" in "
                        "references for %" PRI_STR "/%" PRI_STR " and %" PRI_STR "/%" PRI_STR,
                        STR_ARG(jv_str(jv_get(first, S("kind")), S(""))),
                        STR_ARG(jv_str(jv_get(first, S("name")), S(""))),
                        STR_ARG(jv_str(jv_get(o.value, S("kind")), S(""))),
                        STR_ARG(jv_str(jv_get(o.value, S("name")), S(""))));
    }
}

static void finalizers_check(struct problems *ps, const struct path *p, jv finalizers)
{
    bool orphan = false;
    bool foreground = false;

    JV_EACH (f, finalizers) {
        str name = jv_str(f.value, S(""));
        name_check(ps, p, name, name_qualified);
        orphan = orphan || str_eq(name, S("orphan"));
        foreground = foreground || str_eq(name, S("foregroundDeletion"));
    }
    if (orphan && foreground)
        problem_invalid(ps, p, finalizers,
                        "finalizer orphan and foregroundDeletion cannot be both set");
}

static void managed_fields_check(struct problems *ps, const struct path *p, jv entries)
{
    JV_EACH (m, entries) {
        struct path entry = path_index(p, m.i - 1);
        str operation = jv_str(jv_get(m.value, S("operation")), S(""));
        str type = jv_str(jv_get(m.value, S("fieldsType")), S(""));
        if (!str_eq(operation, S("Apply")) && !str_eq(operation, S("Update"))) {
            struct path q = at(&entry, "operation");
            problem_invalid(ps, &q, jstr(ps->a, operation), "must be `Apply` or `Update`");
        }
        if (type.n && !str_eq(type, S("FieldsV1"))) {
            struct path q = at(&entry, "fieldsType");
            problem_invalid(ps, &q, jstr(ps->a, type), "must be `FieldsV1`");
        }
        if (jv_str(jv_get(m.value, S("manager")), S("")).n > 128) {
            struct path q = at(&entry, "manager");
            problem_add(ps, PROBLEM_TOO_LONG, &q, JV_ABSENT, "may not be more than 128 bytes");
        }
    }
}

static void shared_rules(struct problems *ps, const struct path *p, jv meta, bool create)
{
    struct path labels = at(p, "labels");
    struct path annotations = at(p, "annotations");
    struct path owners = at(p, "ownerReferences");
    struct path finalizers = at(p, "finalizers");
    struct path managed = at(p, "managedFields");

    labels_check(ps, &labels, jv_get(meta, S("labels")));
    annotations_check(ps, &annotations, jv_get(meta, S("annotations")));
    owners_check(ps, &owners, jv_get(meta, S("ownerReferences")));
    if (create)
        finalizers_check(ps, &finalizers, jv_get(meta, S("finalizers")));
    managed_fields_check(ps, &managed, jv_get(meta, S("managedFields")));
}

void meta_check(struct problems *ps, jv obj, bool namespaced, name_hook *check)
{
    jv meta = meta_of(obj);
    struct path p = at(NULL, "metadata");
    struct path name_at = at(&p, "name");
    struct path generate_at = at(&p, "generateName");
    struct path namespace_at = at(&p, "namespace");
    struct path generation_at = at(&p, "generation");
    str generate = meta_str(obj, S("generateName"));
    str space = meta_namespace(obj);

    if (!check)
        check = name_is_subdomain;
    if (generate.n)
        check(ps, &generate_at, generate, true);
    if (meta_name(obj).n)
        check(ps, &name_at, meta_name(obj), false);
    else
        problem_required(ps, &name_at, "name or generateName is required");
    if (!namespaced) {
        if (space.n)
            problem_forbidden(ps, &namespace_at, "not allowed on this type");
    } else if (!space.n) {
        problem_required(ps, &namespace_at, "%s", "");
    } else {
        name_check(ps, &namespace_at, space, name_dns1123_label);
    }
    nonnegative_check(ps, &generation_at, jv_get(meta, S("generation")));
    shared_rules(ps, &p, meta, true);
}

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

static void no_new_finalizers(struct problems *ps, const struct path *p, jv now, jv before)
{
    str *extra = ARENA_ARRAY(ps->a, str, jv_len(now) + 1);
    AUTO(buf) struct buf b = { 0 };
    struct map had = { 0 };
    size_t n = 0;

    JV_EACH (f, before)
        map_put(&had, jv_str(f.value, S("")), ps);
    JV_EACH (f, now)
        if (!map_get(&had, jv_str(f.value, S(""))))
            extra[n++] = jv_str(f.value, S(""));
    map_done(&had);
    if (!n)
        return;
    qsort(extra, n, sizeof(*extra), by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(extra[i], extra[i - 1]))
            continue;
        if (i)
            buf_add(&b, S(", "));
        json_print_str(&b, extra[i]);
    }
    problem_forbidden(ps, p,
                      "no new finalizers can be added if the object is being deleted, found new "
                      "finalizers []string{%" PRI_STR "}",
                      STR_ARG(buf_str(&b)));
}

void meta_check_update(struct problems *ps, jv obj, jv old)
{
    static const char *const fixed[] = { "name",
                                         "namespace",
                                         "uid",
                                         "creationTimestamp",
                                         "deletionTimestamp",
                                         "deletionGracePeriodSeconds" };
    jv meta = meta_of(obj);
    jv before = meta_of(old);
    struct path p = at(NULL, "metadata");

    if (meta_being_deleted(old)) {
        struct path q = at(&p, "finalizers");
        no_new_finalizers(ps, &q, jv_get(meta, S("finalizers")), jv_get(before, S("finalizers")));
    }
    if (!meta_resource_version(obj).n) {
        struct path q = at(&p, "resourceVersion");
        problem_invalid(ps, &q, jstr(ps->a, S("")), "must be specified for an update");
    }
    if (jv_int(jv_get(meta, S("generation")), 0) < jv_int(jv_get(before, S("generation")), 0)) {
        struct path q = at(&p, "generation");
        problem_invalid(ps, &q, jint(ps->a, jv_int(jv_get(meta, S("generation")), 0)),
                        "must not be decremented");
    }
    for (size_t i = 0; i < COUNT(fixed); i++) {
        struct path q = at(&p, fixed[i]);
        jv now = jv_get(meta, str_of(fixed[i]));
        if (i < 3 && jv_is_null(now))
            now = jstr(ps->a, S(""));
        immutable_check(ps, &q, now, jv_get(before, str_of(fixed[i])));
    }
    shared_rules(ps, &p, meta, false);
}

static void requirement_check(struct problems *ps, const struct path *p, jv expr)
{
    str op = jv_str(jv_get(expr, S("operator")), S(""));
    jv values = jv_get(expr, S("values"));
    struct path values_at = at(p, "values");
    struct path key_at = at(p, "key");

    if (str_eq(op, S("In")) || str_eq(op, S("NotIn"))) {
        if (!jv_len(values))
            problem_required(ps, &values_at,
                             "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_eq(op, S("Exists")) || str_eq(op, S("DoesNotExist"))) {
        if (jv_len(values))
            problem_forbidden(ps, &values_at,
                              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        struct path q = at(p, "operator");
        problem_invalid(ps, &q, jstr(ps->a, op), "not a valid selector operator");
    }
    label_key_check(ps, &key_at, jv_str(jv_get(expr, S("key")), S("")));
    JV_EACH (v, values) {
        struct path q = path_index(&values_at, v.i - 1);
        name_check(ps, &q, jv_str(v.value, S("")), name_label_value);
    }
}

void label_selector_check(struct problems *ps, const struct path *p, jv selector)
{
    struct path labels = at(p, "matchLabels");
    struct path exprs = at(p, "matchExpressions");

    labels_check(ps, &labels, jv_get(selector, S("matchLabels")));
    JV_EACH (e, jv_get(selector, S("matchExpressions"))) {
        requirement_check(ps, EACH_AT(&exprs, e), e.value);
    }
}

static void condition_check(struct problems *ps, const struct path *p, jv c)
{
    static const char *const statuses[] = { "False", "True", "Unknown", NULL };
    str status = jv_str(jv_get(c, S("status")), S(""));
    str reason = jv_str(jv_get(c, S("reason")), S(""));
    struct path type_at = at(p, "type");
    struct path status_at = at(p, "status");
    struct path time_at = at(p, "lastTransitionTime");
    struct path reason_at = at(p, "reason");
    struct path message_at = at(p, "message");
    struct path generation_at = at(p, "observedGeneration");

    label_key_check(ps, &type_at, jv_str(jv_get(c, S("type")), S("")));
    if (!str_eq(status, S("True")) && !str_eq(status, S("False")) && !str_eq(status, S("Unknown")))
        problem_not_supported(ps, &status_at, jstr(ps->a, status), statuses);
    if (jv_int(jv_get(c, S("observedGeneration")), 0) < 0)
        problem_invalid(ps, &generation_at, jv_get(c, S("observedGeneration")),
                        "must be greater than or equal to zero");
    if (jv_is_null(jv_get(c, S("lastTransitionTime"))))
        problem_required(ps, &time_at, "%s", "");
    if (!reason.n)
        problem_required(ps, &reason_at, "%s", "");
    else
        name_check(ps, &reason_at, reason, name_condition_reason);
    if (reason.n > 1024)
        problem_add(ps, PROBLEM_TOO_LONG, &reason_at, JV_ABSENT, "may not be more than 1024 bytes");
    if (jv_str(jv_get(c, S("message")), S("")).n > 32768)
        problem_add(ps, PROBLEM_TOO_LONG, &message_at, JV_ABSENT,
                    "may not be more than 32768 bytes");
}

enum { LOOK_BACK = 512 }; /* more conditions than any object has */

void conditions_check(struct problems *ps, const struct path *p, jv conditions)
{
    JV_EACH (c, conditions) {
        struct path q = path_index(p, c.i - 1);
        struct path type_at = at(&q, "type");
        jv type = jv_get(c.value, S("type"));
        for (size_t i = c.i > LOOK_BACK ? c.i - LOOK_BACK : 0; i + 1 < c.i; i++) {
            if (jv_equal(jv_get(jv_index(conditions, i), S("type")), type)) {
                problem_duplicate(ps, &type_at, type);
                break;
            }
        }
        condition_check(ps, &q, c.value);
    }
}
