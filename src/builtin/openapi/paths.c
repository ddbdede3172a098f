/* The paths of a resource: operations with the parameters that clients look for. */

#include "builtin/openapi/internal.h"
#include "builtin/types/types.h"

#define PATCH_TYPE "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"

enum body { BODY_NONE, BODY_OBJECT, BODY_DELETE_OPTIONS, BODY_PATCH };
enum answer { ANSWER_OBJECT, ANSWER_LIST, ANSWER_STATUS, ANSWER_TEXT };

#define LISTED                                                                         \
    "continue,fieldSelector,labelSelector,limit,resourceVersion,resourceVersionMatch," \
    "sendInitialEvents,timeoutSeconds"
#define DELETED                                                                   \
    "dryRun,gracePeriodSeconds,ignoreStoreReadErrorWithClusterBreakingPotential," \
    "orphanDependents,propagationPolicy"
#define WRITTEN "dryRun,fieldManager,fieldValidation"

struct operation {
    const char *verb;   /* as discovery names it */
    const char *method; /* of HTTP */
    const char *action; /* x-kubernetes-action */
    const char *id;     /* first word of the operationId */
    const char *parameters;
    enum body body;
    enum answer answer;
};

static const struct operation on_collection[] = {
    { "list", "get", "list", "list", "allowWatchBookmarks," LISTED ",watch", BODY_NONE,
      ANSWER_LIST },
    { "create", "post", "post", "create", WRITTEN, BODY_OBJECT, ANSWER_OBJECT },
    { "deletecollection", "delete", "deletecollection", "delete", LISTED "," DELETED,
      BODY_DELETE_OPTIONS, ANSWER_STATUS },
    { 0 },
};
static const struct operation on_object[] = {
    { "get", "get", "get", "read", NULL, BODY_NONE, ANSWER_OBJECT },
    { "update", "put", "put", "replace", WRITTEN, BODY_OBJECT, ANSWER_OBJECT },
    { "delete", "delete", "delete", "delete", DELETED, BODY_DELETE_OPTIONS, ANSWER_STATUS },
    { "patch", "patch", "patch", "patch", WRITTEN ",force", BODY_PATCH, ANSWER_OBJECT },
    { 0 },
};
static const struct operation on_subresource[] = {
    { "get", "get", "get", "read", NULL, BODY_NONE, ANSWER_OBJECT },
    { "create", "post", "post", "create", WRITTEN, BODY_OBJECT, ANSWER_OBJECT },
    { "update", "put", "put", "replace", WRITTEN, BODY_OBJECT, ANSWER_OBJECT },
    { "patch", "patch", "patch", "patch", WRITTEN ",force", BODY_PATCH, ANSWER_OBJECT },
    { 0 },
};
/* exec, attach, portforward and proxy: bytes both ways */
static const struct operation on_stream[] = {
    { "get", "get", "connect", "connect", NULL, BODY_NONE, ANSWER_TEXT },
    { "create", "post", "connect", "connect", NULL, BODY_NONE, ANSWER_TEXT },
    { "update", "put", "connect", "connect", NULL, BODY_NONE, ANSWER_TEXT },
    { "delete", "delete", "connect", "connect", NULL, BODY_NONE, ANSWER_TEXT },
    { "patch", "patch", "connect", "connect", NULL, BODY_NONE, ANSWER_TEXT },
    { 0 },
};

/* Where an operation stands. */
struct place {
    const struct resource *r;
    const struct kind_sub *sub; /* NULL: the resource itself */
    bool all_namespaces;
    bool collection;
};

static bool has_verb(const char *verbs, const char *verb)
{
    for (str rest = str_of(verbs); rest.p;)
        if (str_eqz(str_cut(&rest, ','), verb))
            return true;
    return false;
}

/* ---- names */

static void add_capital(struct buf *b, str word)
{
    size_t start = b->n;

    buf_add(b, word);
    if (word.n && word.p[0] >= 'a' && word.p[0] <= 'z')
        b->p[start] = (char)(word.p[0] - 'a' + 'A');
}

/* rbac.authorization.k8s.io: RbacAuthorization */
static void add_group(struct buf *b, str group, bool capital)
{
    if (!group.n) {
        buf_add(b, capital ? S("Core") : S("core"));
        return;
    }
    if (str_ends(group, S(".k8s.io")))
        group = str_sub(group, 0, group.n - S(".k8s.io").n);
    for (str rest = group; rest.p; capital = true) {
        str part = str_cut(&rest, '.');
        if (capital)
            add_capital(b, part);
        else
            buf_add(b, part);
    }
}

static void print_id(struct writer *w, const struct place *at, const struct operation *op)
{
    const struct resource *r = at->r;
    AUTO(buf) struct buf id = { 0 };

    buf_add(&id, str_of(op->id));
    add_group(&id, r->group, true);
    add_capital(&id, r->version);
    if (strcmp(op->action, "connect") == 0)
        add_capital(&id, str_of(op->method));
    if (strcmp(op->action, "deletecollection") == 0)
        buf_add(&id, S("Collection"));
    if (r->namespaced && !at->all_namespaces)
        buf_add(&id, S("Namespaced"));
    buf_add(&id, r->kind);
    if (at->sub)
        add_capital(&id, str_of(at->sub->name));
    if (at->all_namespaces)
        buf_add(&id, S("ForAllNamespaces"));
    w_member(w, "operationId", buf_str(&id));
    buf_clear(&id);
    add_group(&id, r->group, false);
    buf_addc(&id, '_');
    buf_add(&id, r->version);
    w_open_member(w, "tags", '[');
    w_str(w, buf_str(&id));
    w_close(w, ']');
}

/* The component that a subresource reads and writes. */
static str object_type(const struct place *at)
{
    static const struct {
        const char *kind;
        const struct schema *schema;
    } others[] = {
        { "Scale", &autoscaling1_Scale },
        { "Binding", &core_Binding },
        { "Eviction", &policy_Eviction },
        { "TokenRequest", &authn_TokenRequest },
    };

    for (size_t i = 0; at->sub && at->sub->kind && i < COUNT(others); i++)
        if (strcmp(at->sub->kind, others[i].kind) == 0)
            return str_of(others[i].schema->name);
    return at->r->type;
}

/* ---- parameters */

static str parameter_type(str name)
{
    static const char *const booleans[] = {
        "allowWatchBookmarks", "force", "ignoreStoreReadErrorWithClusterBreakingPotential",
        "orphanDependents",    "watch", "sendInitialEvents",
    };
    static const char *const integers[] = { "gracePeriodSeconds", "limit", "timeoutSeconds" };

    for (size_t i = 0; i < COUNT(booleans); i++)
        if (str_eqz(name, booleans[i]))
            return S("boolean");
    for (size_t i = 0; i < COUNT(integers); i++)
        if (str_eqz(name, integers[i]))
            return S("integer");
    return S("string");
}

static void print_parameter(struct writer *w, str name, const char *in)
{
    w_open(w, '{');
    w_member(w, "name", name);
    w_member(w, "in", str_of(in));
    if (strcmp(in, "path") == 0) {
        w_key(w, S("required"));
        w_bool(w, true);
    }
    if (!w->v2)
        w_open_member(w, "schema", '{');
    w_member(w, "type", parameter_type(name));
    w_key(w, S("uniqueItems"));
    w_bool(w, true);
    if (!w->v2)
        w_close(w, '}');
    w_close(w, '}');
}

static void print_schema_ref(struct writer *w, str type)
{
    w_open_member(w, "schema", '{');
    w_ref(w, type);
    w_close(w, '}');
}

static str body_type(const struct place *at, enum body body)
{
    if (body == BODY_PATCH)
        return S(PATCH_TYPE);
    return body == BODY_OBJECT ? object_type(at) : str_of(meta_DeleteOptions.name);
}

static void print_parameters(struct writer *w, const struct place *at, const struct operation *op)
{
    bool body = w->v2 && op->body != BODY_NONE;

    if (!op->parameters && !body)
        return;
    w_open_member(w, "parameters", '[');
    if (body) {
        w_open(w, '{');
        w_member(w, "name", S("body"));
        w_member(w, "in", S("body"));
        if (op->body != BODY_DELETE_OPTIONS) {
            w_key(w, S("required"));
            w_bool(w, true);
        }
        print_schema_ref(w, body_type(at, op->body));
        w_close(w, '}');
    }
    for (str rest = str_of(op->parameters); rest.p;)
        print_parameter(w, str_cut(&rest, ','), "query");
    w_close(w, ']');
}

/* ---- bodies and answers */

static const char *const patch_types[] = {
    "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", /* last: built-in types only */
};

static size_t patch_types_of(const struct resource *r)
{
    return COUNT(patch_types) - !r->schema;
}

static void print_body(struct writer *w, const struct place *at, const struct operation *op)
{
    size_t n = op->body == BODY_PATCH ? patch_types_of(at->r) : 1;

    if (w->v2) {
        w_open_member(w, "consumes", '[');
        for (size_t i = 0; i < n; i++)
            w_str(w, op->body == BODY_PATCH ? str_of(patch_types[i]) : S("*/*"));
        w_close(w, ']');
        return;
    }
    if (op->body == BODY_NONE)
        return;
    w_open_member(w, "requestBody", '{');
    w_open_member(w, "content", '{');
    for (size_t i = 0; i < n; i++) {
        w_open_member(w, op->body == BODY_PATCH ? patch_types[i] : "*/*", '{');
        print_schema_ref(w, body_type(at, op->body));
        w_close(w, '}');
    }
    w_close(w, '}');
    if (op->body != BODY_DELETE_OPTIONS) {
        w_key(w, S("required"));
        w_bool(w, true);
    }
    w_close(w, '}');
}

static void print_answer_schema(struct writer *w, const struct place *at, enum answer answer)
{
    AUTO(buf) struct buf list = { 0 };

    switch (answer) {
    case ANSWER_OBJECT:
        print_schema_ref(w, object_type(at));
        break;
    case ANSWER_STATUS:
        print_schema_ref(w, str_of(meta_Status.name));
        break;
    case ANSWER_LIST:
        buf_add(&list, str_sub(at->r->type, 0, (size_t)(str_rfind(at->r->type, '.') + 1)));
        buf_add(&list, at->r->list_kind);
        print_schema_ref(w, buf_str(&list));
        break;
    case ANSWER_TEXT:
        w_open_member(w, "schema", '{');
        w_member(w, "type", S("string"));
        w_close(w, '}');
        break;
    }
}

static void print_answer(struct writer *w, const struct place *at, enum answer answer)
{
    static const char *const types[] = { "application/json", "application/yaml" };

    if (w->v2) {
        w_open_member(w, "produces", '[');
        for (size_t i = 0; i < COUNT(types); i++)
            w_str(w, str_of(types[i]));
        w_close(w, ']');
    }
    w_open_member(w, "responses", '{');
    w_open_member(w, "200", '{');
    w_member(w, "description", S("OK"));
    if (w->v2) {
        print_answer_schema(w, at, answer);
    } else {
        w_open_member(w, "content", '{');
        for (size_t i = 0; i < COUNT(types); i++) {
            w_open_member(w, types[i], '{');
            print_answer_schema(w, at, answer);
            w_close(w, '}');
        }
        w_close(w, '}');
    }
    w_close(w, '}');
    w_open_member(w, "401", '{');
    w_member(w, "description", S("Unauthorized"));
    w_close(w, '}');
    w_close(w, '}');
}

/* ---- operations and paths */

static void print_kind(struct writer *w, const struct place *at)
{
    const struct kind_sub *sub = at->sub;
    bool foreign = sub && sub->group;

    w_open_member(w, "x-kubernetes-group-version-kind", '{');
    w_member(w, "group", foreign ? str_of(sub->group) : at->r->group);
    w_member(w, "version", foreign ? str_of(sub->version) : at->r->version);
    w_member(w, "kind", sub && sub->kind ? str_of(sub->kind) : at->r->kind);
    w_close(w, '}');
}

static void print_operation(struct writer *w, const struct place *at, const struct operation *op)
{
    bool text = at->sub && strcmp(at->sub->name, "log") == 0;

    w_open_member(w, op->method, '{');
    print_id(w, at, op);
    print_parameters(w, at, op);
    print_body(w, at, op);
    print_answer(w, at, text ? ANSWER_TEXT : op->answer);
    w_member(w, "x-kubernetes-action", str_of(op->action));
    print_kind(w, at);
    w_close(w, '}');
}

static void print_path_parameters(struct writer *w, const struct place *at)
{
    w_open_member(w, "parameters", '[');
    if (!at->collection)
        print_parameter(w, S("name"), "path");
    if (at->r->namespaced && !at->all_namespaces)
        print_parameter(w, S("namespace"), "path");
    print_parameter(w, S("pretty"), "query");
    w_close(w, ']');
}

static void print_path(struct writer *w, const struct place *at, const struct operation *ops)
{
    const struct resource *r = at->r;
    const char *verbs = at->sub ? at->sub->verbs : r->verbs;
    AUTO(buf) struct buf path = { 0 };

    buf_add(&path, r->group.n ? S("/apis/") : S("/api"));
    buf_add(&path, r->group);
    buf_addc(&path, '/');
    buf_add(&path, r->version);
    if (r->namespaced && !at->all_namespaces)
        buf_add(&path, S("/namespaces/{namespace}"));
    buf_addc(&path, '/');
    buf_add(&path, r->plural);
    if (!at->collection)
        buf_add(&path, S("/{name}"));
    if (at->sub) {
        buf_addc(&path, '/');
        buf_add(&path, str_of(at->sub->name));
    }
    w_key(w, buf_str(&path));
    w_open(w, '{');
    for (; ops->verb; ops++)
        if (has_verb(verbs, ops->verb) && (!at->all_namespaces || strcmp(ops->verb, "list") == 0))
            print_operation(w, at, ops);
    print_path_parameters(w, at);
    w_close(w, '}');
}

static bool is_stream(const struct kind_sub *s)
{
    return s->kind && str_ends(str_of(s->kind), S("Options"));
}

void print_paths(struct writer *w, const struct resource *r)
{
    struct place at = { .r = r, .collection = true };

    print_path(w, &at, on_collection);
    if (r->namespaced && has_verb(r->verbs, "list")) {
        at.all_namespaces = true;
        print_path(w, &at, on_collection);
        at.all_namespaces = false;
    }
    at.collection = false;
    if (has_verb(r->verbs, "get"))
        print_path(w, &at, on_object);
    for (at.sub = r->subs; at.sub && at.sub->name; at.sub++)
        print_path(w, &at, is_stream(at.sub) ? on_stream : on_subresource);
}
