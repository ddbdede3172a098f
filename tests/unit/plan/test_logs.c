/* Where logs are, what their files are called, and the lines of the index beside them. */

#include "plan/logs.h"
#include "tap.h"

static void a_place_is_named_after_the_job_and_the_replica(void)
{
    static const struct {
        const char *pod, *place, *what;
    } rows[] = {
        { "{'metadata':{'namespace':'n','name':'p','labels':{'training.kubeflow.org/job-name':'j',"
          "'training.kubeflow.org/replica-type':'worker',"
          "'training.kubeflow.org/replica-index':'3'}}}",
          "n/j/worker-3", "a replica" },
        { "{'metadata':{'namespace':'n','name':'j-launcher','labels':{"
          "'training.kubeflow.org/job-name':'j','training.kubeflow.org/replica-type':'launcher'}}}",
          "n/j/launcher", "one without a number" },
        { "{'metadata':{'namespace':'n','name':'p','labels':{'training.kubeflow.org/job-name':'j'}}}",
          "n/j/p", "a pod of a job that says not which" },
        { "{'metadata':{'namespace':'n','name':'p'}}", "n/p/p", "a pod that is no job's" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *pod = J(rows[i].pod);

        is_str(logs_place(a, jdoc_root(pod)), str_of(rows[i].place), rows[i].what);
    }
}

static void the_main_container_has_the_short_name(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *two = J("{'spec':{'containers':[{'name':'x'},{'name':'y'}]}}");
    AUTO(jdoc)
    struct jdoc *chosen =
        J("{'metadata':{'annotations':{'kubectl.kubernetes.io/default-container':'y'}},"
          "'spec':{'containers':[{'name':'x'},{'name':'y'}]}}");

    is_str(logs_name(a, jdoc_root(two), S("x"), 3), S("3.log"), "the first");
    is_str(logs_name(a, jdoc_root(two), S("y"), 3), S("3.y.log"), "another");
    is_str(logs_name(a, jdoc_root(chosen), S("y"), 0), S("0.log"), "the one that the pod names");
    is_str(logs_name(a, jdoc_root(chosen), S("x"), 0), S("0.x.log"), "not the first then");
}

static void names_give_their_attempt(void)
{
    is_int(logs_attempt(S("3.log"), S("")), 3, "of the main container");
    is_int(logs_attempt(S("12.log.1"), S("")), 12, "put aside");
    is_int(logs_attempt(S("3.y.log"), S("y")), 3, "of another");
    is_int(logs_attempt(S("3.y.log.2"), S("y")), 3, "of another, put aside");
    is_int(logs_attempt(S("3.y.log"), S("")), -1, "not the main one's");
    is_int(logs_attempt(S("3.y.log"), S("z")), -1, "nor a third's");
    is_int(logs_attempt(S("3.log"), S("y")), -1, "nor the other way round");
    is_int(logs_attempt(S("index"), S("")), -1, "no log");
    is_int(logs_attempt(S("-1.log"), S("")), -1, "no number");
    is_int(logs_attempt(S("3.log.x"), S("")), -1, "no number at the end");
}

static void a_line_of_the_index_reads_back(void)
{
    AUTO(buf) struct buf b = { 0 };
    struct logs_run r = { .attempt = 4,
                          .container = S("tf"),
                          .is_main = true,
                          .pod_uid = S("u-1"),
                          .run = 2,
                          .start_ms = 1700000000123 };
    struct logs_run back = { 0 };

    logs_run_print(&b, &r);
    is_str(buf_str(&b), S("4 tf* u-1 2 - 1700000000123\n"), "one line");
    ok(logs_run_read(str_trim(buf_str(&b)), &back), "it is one");
    is_int(back.attempt, 4, "attempt");
    is_str(back.container, S("tf"), "container");
    ok(back.is_main, "the main one");
    is_str(back.pod_uid, S("u-1"), "pod");
    is_int(back.run, 2, "run");
    is_str(back.owner_uid, S("-"), "nobody's");
    is_int(back.start_ms, 1700000000123, "start");
    ok(logs_run_read(S("0 side u 0 o 5"), &back) && !back.is_main &&
           str_eq(back.container, S("side")) && str_eq(back.owner_uid, S("o")),
       "a container beside it, of somebody's");
}

static void what_is_no_line_is_refused(void)
{
    static const char *const lines[] = { "",
                                         "4",
                                         "4 tf* u 2 -",
                                         "x tf u 2 - 5",
                                         "-1 tf u 2 - 5",
                                         "4 * u 2 - 5",
                                         "4 tf  2 - 5",
                                         "4 tf u x - 5",
                                         "4 tf u 2 - 5 6" };
    struct logs_run r = { .attempt = 77 };

    for (size_t i = 0; i < COUNT(lines); i++)
        ok(!logs_run_read(str_of(lines[i]), &r) && r.attempt == 77, "[%s]", lines[i]);
}

int main(void)
{
    a_place_is_named_after_the_job_and_the_replica();
    the_main_container_has_the_short_name();
    names_give_their_attempt();
    a_line_of_the_index_reads_back();
    what_is_no_line_is_refused();
    return tap_done();
}
