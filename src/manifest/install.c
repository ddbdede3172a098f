/* See install.h. */

#include "manifest/install.h"

#include "base/yaml.h"
#include "manifest/crd.h"

#include <assert.h>

/* Selectors have it, as those of the Helm chart: an operator can change from one to the other. */
#define INSTANCE "app.kubernetes.io/instance"

/* ---- templates: YAML in which some words stand for what the options say */

static str word_value(const struct manifest_options *o, str word, struct arena *a)
{
    str name = o->like_original ? S("training-operator") : S("muster");

    if (str_eqz(word, "name"))
        return name;
    if (str_eqz(word, "cluster-name")) /* of objects without a namespace */
        return o->watched.n
                   ? arena_printf(a, "%" PRI_STR "-%" PRI_STR, STR_ARG(name), STR_ARG(o->watched))
                   : name;
    if (str_eqz(word, "container"))
        return o->like_original ? name : S("operator");
    if (str_eqz(word, "label"))
        return o->like_original ? S("control-plane") : S("app.kubernetes.io/name");
    if (str_eqz(word, "value"))
        return o->like_original ? S("kubeflow-training-operator") : S("muster");
    if (str_eqz(word, "home"))
        return o->home;
    if (str_eqz(word, "watched"))
        return o->watched;
    assert(str_eqz(word, "image"));
    return o->image;
}

/* $word, $word-suffix; texts without a $ stay. */
static str filled(struct arena *a, const struct manifest_options *o, str text)
{
    static const char *const words[] = { "cluster-name", "container", "name",    "label",
                                         "value",        "home",      "watched", "image" };

    if (!text.n || text.p[0] != '$')
        return text;
    for (size_t i = 0; i < COUNT(words); i++) {
        str word = str_of(words[i]);
        str rest = str_sub(text, 1 + word.n, text.n);
        if (!str_starts(str_sub(text, 1, text.n), word) || (rest.n && rest.p[0] != '-'))
            continue;
        str value = word_value(o, word, a);
        return arena_printf(a, "%" PRI_STR "%" PRI_STR, STR_ARG(value), STR_ARG(rest));
    }
    return text;
}

static jv fill(struct arena *a, const struct manifest_options *o, jv v)
{
    struct jbuild b = jv_type(v) == JV_OBJ ? jb_obj(a) : jb_arr(a);

    if (jv_type(v) == JV_STR)
        return jstr(a, filled(a, o, jv_str(v, STR_NONE)));
    if (jv_type(v) != JV_OBJ && jv_type(v) != JV_ARR)
        return v;
    JV_EACH (it, v) {
        if (jv_type(v) == JV_OBJ)
            jb_set(&b, filled(a, o, it.key), fill(a, o, it.value));
        else
            jb_push(&b, fill(a, o, it.value));
        if (str_eqz(it.key, "$label") && !o->like_original)
            jb_set(&b, S(INSTANCE), jstrz(a, "muster"));
    }
    return jb_done(&b);
}

static jv labelled(struct arena *a, const struct manifest_options *o, jv obj)
{
    jv labels = jv_at(obj, "metadata", "labels");
    struct jbuild b = jb_from(a, jv_exists(labels) ? labels : JV_EMPTY_OBJ);

    jb_set(&b, S("app.kubernetes.io/name"), jstrz(a, "muster"));
    if (!o->like_original)
        jb_set(&b, S(INSTANCE), jstrz(a, "muster"));
    jb_set(&b, S("app.kubernetes.io/part-of"), jstrz(a, "muster"));
    if (o->like_original) {
        jb_set(&b, S("app"), jstrz(a, "training-operator"));
        jb_set(&b, S("control-plane"), jstrz(a, "kubeflow-training-operator"));
    }
    return jv_with(a, obj, jb_done(&b), "metadata", "labels");
}

jv manifest_fill(struct arena *a, const struct manifest_options *o, const char *yaml)
{
    struct yaml_docs docs = { 0 };
    int rc = yaml_parse(a, STR_NONE, str_of(yaml), NULL, &docs, NULL);

    assert(rc == 0 && docs.n == 1);
    (void)rc;
    jv obj = fill(a, o, docs.at[0].root);
    return jv_exists(jv_get(obj, S("metadata"))) ? labelled(a, o, obj) : obj;
}

/* ---- the parts */

/* The namespace of jobs is left as it is; our own holds nothing but the operator. */
static const char own_namespace[] = "apiVersion: v1\n"
                                    "kind: Namespace\n"
                                    "metadata:\n"
                                    "  name: $home\n"
                                    "  labels: {pod-security.kubernetes.io/enforce: restricted}\n";

static bool has_own_namespace(const struct manifest_options *o)
{
    return !str_eq(o->home, o->watched) && !o->like_original;
}

static jv only_name(struct arena *a, jv obj)
{
    jv meta = jv_get(obj, S("metadata"));

    return jobj(a, { "apiVersion", jv_get(obj, S("apiVersion")) },
                { "kind", jv_get(obj, S("kind")) },
                { "metadata", jobj(a, { "name", jv_get(meta, S("name")) },
                                   { "namespace", jv_get(meta, S("namespace")) }) });
}

/* The operator goes before its rights do: the other way round as it came. */
static jv what_goes(struct arena *a, const struct manifest_options *o)
{
    struct manifest_options most = *o;
    struct jbuild made = jb_arr(a), gone = jb_arr(a);

    most.replicas = 2; /* what more replicas and gang scheduling add goes, too */
    most.gang = S("volcano");
    manifest_rbac(&made, &most);
    manifest_users(&made, &most);
    manifest_operator(&made, &most);
    jv all = jb_done(&made);
    for (size_t i = jv_len(all); i > 0; i--)
        jb_push(&gone, only_name(a, jv_index(all, i - 1)));
    return jb_done(&gone);
}

jv manifest_objects(struct arena *a, const struct manifest_options *o, enum manifest_part part)
{
    struct jbuild b = jb_arr(a);

    if (part == MANIFEST_UNINSTALL)
        return what_goes(a, o);
    if (part == MANIFEST_INSTALL && has_own_namespace(o))
        jb_push(&b, manifest_fill(a, o, own_namespace));
    for (size_t i = 0; part != MANIFEST_RBAC && i < o->n_kinds; i++)
        jb_push(&b, manifest_crd(a, o->kinds[i]));
    if (part != MANIFEST_CRDS) {
        manifest_rbac(&b, o);
        manifest_users(&b, o);
    }
    if (part == MANIFEST_INSTALL)
        manifest_operator(&b, o);
    return jb_done(&b);
}
