/* What the client takes: JSON or YAML, the object itself, a Table or only its metadata. */

#include "api/request.h"

struct offer {
    bool known; /* a type we can write */
    bool yaml;
    enum form form;
    bool beta; /* of meta.k8s.io/v1beta1 */
    bool list; /* PartialObjectMetadataList */
    bool bad_transform;
};

static struct offer read_offer(str part)
{
    str rest = part;
    str type = str_trim(str_cut(&rest, ';'));
    str as = STR_NONE;
    str group = STR_NONE;
    str version = STR_NONE;
    struct offer o = { 0 };

    while (rest.p) {
        str value = str_cut(&rest, ';');
        str key = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (str_eqz(key, "as"))
            as = value;
        else if (str_eqz(key, "g"))
            group = value;
        else if (str_eqz(key, "v"))
            version = value;
    }
    o.yaml = str_eqz(type, "application/yaml");
    o.known = o.yaml || str_eqz(type, "application/json") || str_eqz(type, "*/*") ||
              str_eqz(type, "application/*");
    if (!as.n)
        return o;
    o.beta = str_eqz(version, "v1beta1");
    bool meta_group = str_eqz(group, "meta.k8s.io") && str_starts(version, S("v1"));
    if (meta_group && str_eqz(as, "Table"))
        o.form = FORM_TABLE;
    else if (meta_group &&
             (str_eqz(as, "PartialObjectMetadata") || str_eqz(as, "PartialObjectMetadataList")))
        o.form = FORM_META, o.list = str_ends(as, S("List"));
    else
        o.bad_transform = true;
    return o;
}

/* Metadata of one object was asked for, or of a list, and that is what the answer is. */
static int check_list_form(struct api_req *r, bool list)
{
    bool is_list = r->verb == VERB_LIST;
    const char *package = r->res->builtin ? "core" : "unstructured";

    if (r->form != FORM_META || r->verb == VERB_WATCH || is_list == list)
        return 0;
    if (is_list)
        fail_code(
            r, ERR_NOT_ACCEPTABLE,
            "you requested PartialObjectMetadata, but the requested object is a list (*%s.%" PRI_STR
            ")",
            package, STR_ARG(r->res->list_kind));
    else
        fail_code(
            r, ERR_NOT_ACCEPTABLE,
            "you requested PartialObjectMetadataList, but the requested object is not a list (*%s.%" PRI_STR
            ")",
            package, STR_ARG(r->res->kind));
    return -1;
}

int negotiate(struct api_req *r)
{
    str accept = http_get_header(r->http, S("accept"));
    bool wanted_transform = false;

    if (!accept.n)
        return 0;
    while (accept.p) {
        struct offer o = read_offer(str_cut(&accept, ','));
        wanted_transform = wanted_transform || (o.known && o.bad_transform);
        if (!o.known || o.bad_transform)
            continue;
        r->yaml = o.yaml;
        r->form = o.form;
        r->beta_form = o.beta;
        return check_list_form(r, o.list);
    }
    static const char types[] = "application/json, application/yaml";
    if (wanted_transform)
        fail_code(r, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: %s", types);
    else
        fail_with(r, ERR_NOT_ACCEPTABLE,
                  arena_printf(r->a, "406: Not Acceptable\n\nAvailable representations: %s", types),
                  JV_EMPTY_OBJ);
    return -1;
}
