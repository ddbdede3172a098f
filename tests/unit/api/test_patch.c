/* Patches of each kind, by a user who may patch ConfigMaps and nothing else. */

#include "rights.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const char *const user = "patcher";

/* Patches "m" in that way; the answer. */
static struct reply patch(struct box *b, const char *target, const char *type, const char *body)
{
    char head[300];

    snprintf(head, sizeof(head), "PATCH " MAPS "/%s\ncontent-type: application/%s", target, type);
    return ask(b, user, head, str_of(body));
}

static void kinds_of_patches_work(struct box *b)
{
    static const struct {
        const char *type, *body, *want;
    } rows[] = {
        { "merge-patch+json", "{\"data\":{\"a\":\"1\",\"b\":null}}", "{'a':'1'}" },
        { "json-patch+json", "[{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"3\"}]",
          "{'a':'1','c':'3'}" },
        { "strategic-merge-patch+json", "{\"data\":{\"$patch\":\"replace\",\"d\":\"4\"}}",
          "{'d':'4'}" },
        { "apply-patch+yaml", "apiVersion: v1\nkind: ConfigMap\ndata: {e: '5'}\n",
          "{'d':'4','e':'5'}" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(reply)
        struct reply r = patch(b, i == 3 ? "m?fieldManager=f" : "m", rows[i].type, rows[i].body);
        is_int(r.status, 200, rows[i].type);
        is_json(jv_at(json_parse(a, buf_str(&r.body), NULL, NULL), "data"), rows[i].want,
                "what comes of it");
    }
}

static void mistakes_are_told(struct box *b)
{
    static const struct {
        const char *target, *type, *body;
        int status;
        const char *words;
    } rows[] = {
        { "m", "patch+json", "{}", 415, "Unsupported Media Type" },
        { "m", "merge-patch+json", "{", 400, "" },
        { "m", "merge-patch+json", "[]", 400, "" },
        { "m", "json-patch+json", "{}", 400, "" },
        { "m", "json-patch+json", "[{\"op\":\"test\",\"path\":\"/data/d\",\"value\":\"x\"}]", 422,
          "" },
        { "m", "merge-patch+json", "{\"metadata\":{\"name\":\"n\"}}", 400, "name" },
        { "m", "merge-patch+json", "{\"metadata\":{\"resourceVersion\":\"1\"}}", 409,
          "the object has been modified" },
        { "m", "merge-patch+json", "{\"data\":{\"a\":1}}", 422, "" },
        { "none", "merge-patch+json", "{}", 404, "configmaps \\\"none\\\" not found" },
        { "m", "apply-patch+yaml", "{apiVersion: v1, kind: ConfigMap}", 422, "fieldManager" },
        { "m?fieldManager=g", "apply-patch+yaml",
          "{apiVersion: v1, kind: ConfigMap, data: {e: other}}", 409, "conflict" },
        { "new?fieldManager=g", "apply-patch+yaml",
          "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}", 403,
          "cannot create resource" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(reply) struct reply r = patch(b, rows[i].target, rows[i].type, rows[i].body);
        is_int(r.status, rows[i].status, rows[i].body);
        if (!ok(str_contains(buf_str(&r.body), str_of(rows[i].words)), "%s", rows[i].words))
            printf("# %.*s\n", (int)r.body.n, r.body.p);
    }
}

static void other_verbs_are_not_theirs(struct box *b)
{
    is_int(ask_status(b, user, "PUT " MAPS "/m", "{}"), 403, "no update");
    is_int(ask_status(b, user, "GET " MAPS "/m", ""), 403, "no get");
    is_int(ask_status(b, user,
                      "PATCH /api/v1/namespaces/kube-system/configmaps/m\n"
                      "content-type: application/merge-patch+json",
                      "{}"),
           403, "not elsewhere");
    is_int(
        ask_status(b, user,
                   "PATCH /api/v1/namespaces/default\ncontent-type: application/merge-patch+json",
                   "{}"),
        403, "nor of the namespace");
}

int main(void)
{
    struct box b;
    AUTO(arena) struct arena *a = arena_new();

    box_open(&b, NULL, NULL);
    rights_give(&b, user, "'patch'", "", "'configmaps'");
    rights_post(&b, a, MAPS, "{'metadata':{'name':'m'},'data':{'b':'2'}}");
    kinds_of_patches_work(&b);
    mistakes_are_told(&b);
    other_verbs_are_not_theirs(&b);
    box_close(&b);
    return tap_done();
}
