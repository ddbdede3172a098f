/* Which paths are served, and to whom: a user without rights is told nothing of what there is. */

#include "rights.h"

static void paths_lead_somewhere_or_not(struct box *b)
{
    static const struct {
        const char *head;
        int admin, nobody;
    } rows[] = {
        { "GET /api", 200, 200 },
        { "GET /apis", 200, 200 },
        { "GET /api/v1", 200, 200 },
        { "GET /version", 200, 200 },
        { "GET /healthz", 200, 200 },
        { "GET /healthz?verbose", 200, 200 },
        { "GET /metrics", 200, 403 },
        { "GET /nowhere", 404, 403 },
        { "POST /api/v1", 405, 403 },
        { "GET /api/v2/pods", 404, 403 },
        { "GET /apis/none.io/v1/things", 404, 403 },
        { "GET /api/v1/things", 404, 403 },
        { "GET /api/v1/nodes", 200, 403 },
        { "GET /api/v1/namespaces/default/nodes", 404, 403 },
        { "GET /api/v1/pods/p", 404, 403 },
        { "GET /api/v1/namespaces/default/pods/p", 404, 403 },
        { "GET /api/v1/namespaces/default/pods/p/nothing", 404, 403 },
        { "GET /api/v1/namespaces/default/pods/p/status/more", 404, 403 },
        { "HEAD /api/v1/namespaces/default/pods", 405, 403 },
        { "POST /api/v1/namespaces/default/pods/p", 405, 403 },
        { "PUT /api/v1/namespaces/default/pods", 405, 403 },
        { "PATCH /api/v1/namespaces/default/pods", 405, 403 },
        { "POST /api/v1/pods", 405, 403 },
        { "DELETE /api/v1/pods", 405, 403 },
        { "DELETE /api/v1/namespaces", 405, 403 },
        { "GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405, 403 },

        { "GET /api/v1/namespaces/a%zz/pods", 400, 400 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        is_int(ask_status(b, "admin,system:masters", rows[i].head, ""), rows[i].admin,
               rows[i].head);
        is_int(ask_status(b, "nobody", rows[i].head, ""), rows[i].nobody,
               "for those without rights");
    }
}

static void answers_come_in_a_form_that_is_taken(struct box *b)
{
    is_int(ask_status(b, "admin,system:masters", "GET /api/v1/nodes\naccept: text/plain", ""), 406,
           "no form that we have");
    is_int(ask_status(b, "admin,system:masters", "GET /api/v1/nodes\naccept: text/plain, */*", ""),
           200, "any other");
}

static void who_is_unknown_sees_health_alone(struct box *b)
{
    is_int(ask_status(b, "", "GET /healthz", ""), 200, "health");
    is_int(ask_status(b, "", "GET /version", ""), 200, "version");
    is_int(ask_status(b, "", "GET /api", ""), 401, "nothing else");
    is_int(ask_status(b, "",
                      "GET /api/v1/pods\nimpersonate-user: admin\nimpersonate-group: "
                      "system:masters",
                      ""),
           401, "whoever they say they are");
    is_int(ask_status(b, "", "GET /api\nauthorization: Bearer nonsense", ""), 401, "or what");
}

static void pages_of_other_sites_are_kept_out(struct box *b)
{
    is_int(ask_status(b, "admin,system:masters", "GET /api\norigin: http://evil.example", ""), 403,
           "a browser has to name this server");
}

int main(void)
{
    struct box b;

    box_open(&b, NULL, NULL);
    paths_lead_somewhere_or_not(&b);
    answers_come_in_a_form_that_is_taken(&b);
    who_is_unknown_sees_health_alone(&b);
    pages_of_other_sites_are_kept_out(&b);
    box_close(&b);
    return tap_done();
}
