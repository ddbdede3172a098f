/* Each fault is told once, where it stands. */

#include "lint/lint.h"
#include "tap.h"

/* All findings of the files (NULL ends them), a line each: "file:line:column level field: text". */
static str found(struct arena *a, const char *const *files)
{
    AUTO(lint) struct lint *l = lint_new();
    AUTO(buf) struct buf b = { 0 };
    size_t n;

    for (size_t i = 0; files[i]; i++)
        lint_read(l, arena_printf(a, "%zu", i + 1), str_of(files[i]));
    lint_namesakes(l);
    lint_check(l, 0);
    const struct lint_finding *at = lint_findings(l, &n);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%" PRI_STR ":%u:%u %s%" PRI_STR ": %" PRI_STR "\n", STR_ARG(at[i].file),
                   at[i].at.line, at[i].at.column, at[i].level == LINT_WARNING ? "warning " : "",
                   STR_ARG(at[i].field), STR_ARG(at[i].text));
    return arena_str(a, buf_str(&b));
}

static void finds(const char *text, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(found(a, (const char *const[]){ text, NULL }), str_of(want), what);
}

static void good_objects_are_quiet(void)
{
    finds("", "", "an empty file");
    finds("# nothing\n---\n---\n", "", "documents without anything in them");
    finds("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n"
          "spec: {containers: [{name: a, image: b}]}\n",
          "", "a pod whose name is to be made up");
    finds("apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a, namespace: x}\n"
          "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow, "
          "image: b}]}}}}}\n",
          "", "a job");
}

static void yaml_faults_have_places(void)
{
    finds("a: [\n", "1:2:1 : did not find expected node content\n", "a list without an end");
    finds("a: b\n c: d\n", "1:2:3 : mapping values are not allowed in this context\n",
          "a wrong indent");
    finds("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nkind: ConfigMap\n",
          "1:4:1 : the key \"kind\" exists already, in line 2\n", "a key twice");
    finds("- a\n", "1:1:1 : this is not an object\n", "a list");
}

static void one_bad_document_does_not_hide_others(void)
{
    finds("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n---\nx: [\n---\n"
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {x: 1}\n",
          "1:3:12 metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist "
          "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
          "alphanumeric character (e.g. 'example.com', regex used for validation is "
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n"
          "1:6:1 : did not find expected node content\n"
          "1:10:8 data[x]: Invalid value: 1: must be a string\n",
          "before and after");
}

static void fields_and_types(void)
{
    finds("apiVersion: v1\nkind: Pod\nmetadata: {name: a, lables: {}}\nspec:\n  containers:\n"
          "  - name: a\n    image: b\n    comand: [x]\n    xyz: 1\n    resources: {limits: {cpu: "
          "many}}\n  - name: [c]\n    image: b\n  nodeName: 7\n",
          "1:3:21 metadata.lables: unknown field; was \"labels\" meant?\n"
          "1:8:5 spec.containers[0].comand: unknown field; was \"command\" meant?\n"
          "1:9:5 spec.containers[0].xyz: unknown field\n"
          "1:10:26 spec.containers[0].resources.limits[cpu]: Invalid value: \"many\": must be a "
          "quantity, such as 500m or 2Gi\n"
          "1:11:5 spec.containers[1].name: Invalid value: must be a string, not a list\n"
          "1:13:3 spec.nodeName: Invalid value: 7: must be a string\n",
          "all of them, and nothing that follows from them");
}

static void kinds_that_are_not_there(void)
{
    finds("kind: Pod\n", "1:1:1 apiVersion: Required value\n", "no apiVersion");
    finds("apiVersion: v1\nkind: 3\n", "1:2:1 kind: must be a string that is not empty\n",
          "a kind that is a number");
    finds("apiVersion: extensions/v1beta1\nkind: Deployment\n",
          "1:2:1 kind: there is no kind \"Deployment\" in extensions/v1beta1; there is apps/v1 "
          "Deployment\n",
          "J7: another version is named");
    finds("apiVersion: kubeflow.org/v1\nkind: tfjob\n",
          "1:2:1 kind: there is no kind \"tfjob\" in kubeflow.org/v1; there is kubeflow.org/v1 "
          "TFJob\n",
          "J7: the right case is");
    finds("apiVersion: a.dev/v1\nkind: Boat\n",
          "1:2:1 warning kind: not checked: there is no definition of Boat in a.dev/v1 among the "
          "files\n",
          "somebody else's");
}

static void lists_are_looked_into(void)
{
    finds("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: "
          "{name: a}\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n  dta: {}\n- 4\n",
          "1:10:3 items[1].dta: unknown field; was \"data\" meant?\n"
          "1:11:3 items[2]: this is not an object\n",
          "each item by its own kind");
}

static void json_is_fine(void)
{
    finds("{\"apiVersion\": \"v1\",\n \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"},\n "
          "\"datas\": {}}",
          "1:3:2 datas: unknown field; was \"data\" meant?\n", "with places");
}

static void jobs_are_held_to_their_rules(void)
{
    finds(
        "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a}\nspec:\n  runPolicy: "
        "{backoffLimit: -1, cleanPodPolicey: All}\n  tfReplicaSpecs:\n    Worker:\n      "
        "restartPolicy: Often\n      template:\n        spec:\n          containers:\n          - "
        "{name: tensorflow, image: b, imge: c, volumeMounts: [{name: v, mountPath: /v}]}\n",
        "1:5:15 spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to "
        "0\n"
        "1:5:33 spec.runPolicy.cleanPodPolicey: unknown field; was \"cleanPodPolicy\" meant?\n"
        "1:8:7 spec.tfReplicaSpecs[Worker].restartPolicy: Unsupported value: \"Often\": supported "
        "values: \"Always\", \"ExitCode\", \"Never\", \"OnFailure\"\n"
        "1:12:42 spec.tfReplicaSpecs[Worker].template.spec.containers[0].imge: unknown field; was "
        "\"image\" meant?\n"
        "1:12:67 spec.tfReplicaSpecs[Worker].template.spec.containers[0].volumeMounts[0].name: "
        "Not found: \"v\"\n",
        "J7: by the kind, by its schema, and by what its pods must be");
}

static void a_field_that_belongs_further_in(void)
{
    finds("apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a}\n"
          "spec: {cleanPodPolicy: None, tfReplicaSpecs: {Worker: {template: {spec: {containers: "
          "[{name: tensorflow, image: b}]}}}}}\n",
          "1:4:8 spec.cleanPodPolicy: unknown field; was \"runPolicy.cleanPodPolicy\" meant?\n",
          "a policy of the run");
    finds("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
          "spec: {fsGroup: 1, containers: [{name: a, image: b}]}\n",
          "1:4:8 spec.fsGroup: unknown field; was \"securityContext.fsGroup\" meant?\n",
          "a setting of the pod");
}

static void namesakes_are_warned_of(void)
{
    const char *one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n";
    AUTO(arena) struct arena *a = arena_new();

    is_str(found(a, (const char *const[]){ one, one, NULL }), S(""), "the same twice is fine");
    is_str(found(a, (const char *const[]){ one,
                                           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
                                           NULL }),
           S("2:3:12 warning metadata.name: another ConfigMap/a is at 1:1:1\n"), "another is not");
    finds("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n---\n"
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a}\n---\n"
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a}\ndata: {x: '1'}\n",
          "", "nor are those elsewhere, or whose names are to be made up");
}

static void definitions_count_in_any_order(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char boat[] = "apiVersion: harbour.dev/v1\nkind: Boat\nmetadata: {name: a}\n"
                               "spec: {metres: 0, sails: 2}\n";
    static const char crd[] =
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: boats.harbour.dev}\nspec:\n  group: harbour.dev\n  scope: Namespaced\n"
        "  names: {kind: Boat, plural: boats, singular: boat}\n  versions:\n  - name: v1\n"
        "    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n"
        "        type: object\n        properties:\n          spec:\n            type: object\n"
        "            properties: {metres: {type: integer, minimum: 1}}\n";

    is_str(found(a, (const char *const[]){ boat, crd, NULL }),
           S("1:4:8 spec.metres: Invalid value: 0: spec.metres in body should be greater than or "
             "equal to 1\n"
             "1:4:19 spec.sails: unknown field\n"),
           "an object before its definition");
}

int main(void)
{
    good_objects_are_quiet();
    yaml_faults_have_places();
    one_bad_document_does_not_hide_others();
    fields_and_types();
    kinds_that_are_not_there();
    lists_are_looked_into();
    json_is_fine();
    jobs_are_held_to_their_rules();
    a_field_that_belongs_further_in();
    namesakes_are_warned_of();
    definitions_count_in_any_order();
    return tap_done();
}
