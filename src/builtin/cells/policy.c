/* Tables of rules about others: roles' bindings, budgets, admission, classes, leases. */

#include "builtin/cells/internal.h"

#include "kube/selector.h"

const struct kind_column rolebinding_columns[] = {
    NAME_COLUMN,
    COLUMN("Role", "string", "The role it gives."),
    AGE_COLUMN,
    WIDE_COLUMN("Users", "string", "Users it gives it to."),
    WIDE_COLUMN("Groups", "string", "Groups it gives it to."),
    WIDE_COLUMN("ServiceAccounts", "string", "Service accounts it gives it to."),
};

const struct kind_column poddisruptionbudget_columns[] = {
    NAME_COLUMN,
    COLUMN("Min Available", "string", "How many pods must stay."),
    COLUMN("Max Unavailable", "string", "How many pods may be missing."),
    COLUMN("Allowed Disruptions", "integer", "How many pods may go now."),
    AGE_COLUMN,
};

const struct kind_column priorityclass_columns[] = {
    NAME_COLUMN,
    COLUMN("Value", "integer", "The priority; higher goes first."),
    COLUMN("Global-Default", "boolean", "Whether it is for pods that name none."),
    AGE_COLUMN,
    COLUMN("PreemptionPolicy", "string", "Whether its pods push others out."),
};

const struct kind_column lease_columns[] = {
    NAME_COLUMN,
    COLUMN("Holder", "string", "Who holds it."),
    AGE_COLUMN,
};

const struct kind_column webhooks_columns[] = {
    NAME_COLUMN,
    COLUMN("Webhooks", "integer", "How many webhooks it has."),
    AGE_COLUMN,
};

const struct kind_column policy_columns[] = {
    NAME_COLUMN,
    COLUMN("Validations", "integer", "How many rules it has."),
    COLUMN("ParamKind", "string", "Kind of the objects that configure it."),
    AGE_COLUMN,
};

const struct kind_column policybinding_columns[] = {
    NAME_COLUMN,
    COLUMN("PolicyName", "string", "The policy it puts in force."),
    COLUMN("ParamRef", "string", "The object that configures it."),
    AGE_COLUMN,
};

const struct kind_column networkpolicy_columns[] = {
    NAME_COLUMN,
    COLUMN("Pod-Selector", "string", "Which pods it is about."),
    AGE_COLUMN,
};

const struct kind_column ingressclass_columns[] = {
    NAME_COLUMN,
    COLUMN("Controller", "string", "Who serves ingresses of the class."),
    COLUMN("Parameters", "string", "The object that configures it."),
    AGE_COLUMN,
};

/* Its cells have an age as well; so it is in Kubernetes. */
const struct kind_column ipaddress_columns[] = {
    NAME_COLUMN,
    COLUMN("ParentRef", "string", "What has the address."),
};

const struct kind_column servicecidr_columns[] = {
    NAME_COLUMN,
    COLUMN("CIDRs", "string", "Ranges that services get addresses from."),
    AGE_COLUMN,
};

static jv subjects(const struct kind_ctx *c, jv obj, const char *kind)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, jv_at(obj, "subjects")) {
        str namespace = text_at(it.value, "namespace");
        if (!str_eqz(text_at(it.value, "kind"), kind))
            continue;
        join(&b, ", ", S(""));
        if (namespace.n && strcmp(kind, "ServiceAccount") == 0) {
            buf_add(&b, namespace);
            buf_addc(&b, '/');
        }
        buf_add(&b, text_at(it.value, "name"));
    }
    return cell_take(c, &b);
}

static jv slashed(const struct kind_ctx *c, str one, str two)
{
    return jstr(c->a, arena_printf(c->a, "%" PRI_STR "/%" PRI_STR, STR_ARG(one), STR_ARG(two)));
}

jv rolebinding_cells(const struct kind_ctx *c, jv obj)
{
    jv role = jv_at(obj, "roleRef");

    return jarr(c->a, cell_name(c, obj), slashed(c, text_at(role, "kind"), text_at(role, "name")),
                cell_age(c, obj), subjects(c, obj, "User"), subjects(c, obj, "Group"),
                subjects(c, obj, "ServiceAccount"));
}

/* A number or a percentage, as text */
static jv int_or_text(const struct kind_ctx *c, jv v)
{
    if (jv_is(v, JV_INT))
        return jstr(c->a, jv_num_text(c->a, v));
    return cell_set(c, v, "N/A");
}

jv poddisruptionbudget_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), int_or_text(c, jv_at(obj, "spec", "minAvailable")),
                int_or_text(c, jv_at(obj, "spec", "maxUnavailable")),
                cell_int(c, jv_at(obj, "status", "disruptionsAllowed")), cell_age(c, obj));
}

jv priorityclass_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_int(c, jv_at(obj, "value")),
                jbool(jv_bool(jv_at(obj, "globalDefault"), false)), cell_age(c, obj),
                cell_text(c, jv_at(obj, "preemptionPolicy")));
}

jv lease_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(obj, "spec", "holderIdentity")),
                cell_age(c, obj));
}

jv webhooks_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_count(c, jv_at(obj, "webhooks")), cell_age(c, obj));
}

jv policy_cells(const struct kind_ctx *c, jv obj)
{
    jv kind = jv_at(obj, "spec", "paramKind");
    jv shown = jv_is(kind, JV_OBJ) ? slashed(c, text_at(kind, "apiVersion"), text_at(kind, "kind"))
                                   : jstrz(c->a, "<unset>");

    return jarr(c->a, cell_name(c, obj), cell_count(c, jv_at(obj, "spec", "validations")), shown,
                cell_age(c, obj));
}

/* As Go prints the struct of a selector. */
static jv selector_dump(const struct kind_ctx *c, jv selector)
{
    AUTO(buf) struct buf b = { 0 };
    struct selector labels = selector_from_labels(c->a, jv_at(selector, "matchLabels"));

    buf_add(&b, S("&LabelSelector{MatchLabels:map[string]string{"));
    for (size_t i = 0; i < labels.n; i++)
        buf_printf(&b, "%" PRI_STR ": %" PRI_STR ",", STR_ARG(labels.at[i].key),
                   STR_ARG(labels.at[i].values[0]));
    buf_add(&b, S("},MatchExpressions:[]LabelSelectorRequirement{"));
    JV_EACH (it, jv_at(selector, "matchExpressions")) {
        str key = text_at(it.value, "key");
        str op = text_at(it.value, "operator");
        buf_printf(&b, "LabelSelectorRequirement{Key:%" PRI_STR ",Operator:%" PRI_STR ",Values:[",
                   STR_ARG(key), STR_ARG(op));
        JV_EACH (v, jv_at(it.value, "values"))
            buf_printf(&b, v.i > 1 ? " %" PRI_STR : "%" PRI_STR, STR_ARG(jv_str(v.value, S(""))));
        buf_add(&b, S("],},"));
    }
    buf_add(&b, S("},}"));
    return cell_take(c, &b);
}

static jv param_ref(const struct kind_ctx *c, jv ref)
{
    str namespace = text_at(ref, "namespace");

    if (!jv_is(ref, JV_OBJ))
        return jstrz(c->a, "<unset>");
    if (!jv_is_null(jv_at(ref, "selector")))
        return selector_dump(c, jv_at(ref, "selector"));
    return slashed(c, namespace.n ? namespace : S("*"), text_at(ref, "name"));
}

jv policybinding_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");

    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(spec, "policyName")),
                param_ref(c, jv_at(spec, "paramRef")), cell_age(c, obj));
}

jv networkpolicy_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_selector(c, jv_at(obj, "spec", "podSelector")),
                cell_age(c, obj));
}

/* "Kind.group/name" */
static jv parameters(const struct kind_ctx *c, jv ref)
{
    str group = text_at(ref, "apiGroup");

    if (!jv_is(ref, JV_OBJ))
        return jstrz(c->a, "<none>");
    str kind = text_at(ref, "kind");
    if (jv_is(jv_at(ref, "apiGroup"), JV_STR))
        kind = arena_printf(c->a, "%" PRI_STR ".%" PRI_STR, STR_ARG(kind), STR_ARG(group));
    return slashed(c, kind, text_at(ref, "name"));
}

jv ingressclass_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");

    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(spec, "controller")),
                parameters(c, jv_at(spec, "parameters")), cell_age(c, obj));
}

/* "services/default/kubernetes" */
static jv parent(const struct kind_ctx *c, jv ref)
{
    AUTO(buf) struct buf b = { 0 };

    if (!jv_is(ref, JV_OBJ))
        return jstrz(c->a, "<none>");
    buf_add(&b, text_at(ref, "resource"));
    if (text_at(ref, "group").n) {
        buf_addc(&b, '.');
        buf_add(&b, text_at(ref, "group"));
    }
    if (text_at(ref, "namespace").n) {
        buf_addc(&b, '/');
        buf_add(&b, text_at(ref, "namespace"));
    }
    buf_addc(&b, '/');
    buf_add(&b, text_at(ref, "name"));
    return cell_take(c, &b);
}

jv ipaddress_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), parent(c, jv_at(obj, "spec", "parentRef")),
                cell_age(c, obj));
}

jv servicecidr_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_joined(c, jv_at(obj, "spec", "cidrs"), NULL),
                cell_age(c, obj));
}
