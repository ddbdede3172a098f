/* Label and field selectors, against what kube-apiserver answers. */

#include "kube/selector.h"
#include "tap.h"

#define LABEL_VALUE_RULE                                                                        \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is "                                    \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static void selectors_match_and_print(void)
{
    static const struct {
        const char *text;
        const char *canonical;
        bool matches; /* {app: web, tier: front, n: 5, empty: ""} */
    } rows[] = {
        { "", "", true },
        { "app=web", "app=web", true },
        { "app==web", "app==web", true },
        { "app=db", "app=db", false },
        { "app!=db", "app!=db", true },
        { "none!=x", "none!=x", true },
        { "app in (web,db)", "app in (db,web)", true },
        { "app in (b,a,b)", "app in (a,b)", false },
        { "app notin (web)", "app notin (web)", false },
        { "none notin (x)", "none notin (x)", true },
        { "app,tier", "app,tier", true },
        { "tier , app", "app,tier", true },
        { "!none", "!none", true },
        { "!app", "!app", false },
        { "n>4,n<6", "n>4,n<6", true },
        { "n>5", "n>5", false },
        { "app>1", "app>1", false },
        { "empty=", "empty=", true },
        { "empty in ()", "empty in ()", true },
        { "empty in (,x)", "empty in (,x)", true },
        { "in in (in)", "in in (in)", false },
        { "example.com/a notin (in,notin)", "example.com/a notin (in,notin)", true },
        { " app = web , tier in ( front ) ", "app=web,tier in (front)", true },
    };
    AUTO(jdoc) struct jdoc *d = J("{'app': 'web', 'tier': 'front', 'n': '5', 'empty': ''}");

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct selector s = { 0 };
        str why = STR_NONE;
        is_int(selector_parse(a, str_of(rows[i].text), &s, &why), 0, rows[i].text);
        is_str(selector_text(a, &s), str_of(rows[i].canonical), "prints");
        ok(selector_matches(&s, jdoc_root(d)) == rows[i].matches, "%s",
           rows[i].matches ? "matches" : "does not match");
    }
}

static void wrong_selectors_are_refused_in_kubernetes_words(void)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        { "a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
        { "a===b", "unable to parse requirement: found '=', expected: identifier" },
        { "a,", "found '', expected: identifier after ','" },
        { ",a", "found ',', expected: !, identifier, or 'end of string'" },
        { "a in b", "unable to parse requirement: found 'b' expected: '('" },
        { "a in (b", "unable to parse requirement: found '', expected: ',' or ')'" },
        { "a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier" },
        { "!a=b", "found '=', expected: ',' or 'end of string'" },
        { "a=b c", "found 'c', expected: ',' or 'end of string'" },
        { "!", "unable to parse requirement: found '', expected: identifier" },
        { "/a", "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be "
                "non-empty" },
        { "a=@",
          "unable to parse requirement: values[0][a]: Invalid value: \"@\": " LABEL_VALUE_RULE },
        { "a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
                 "operators, the value must be an integer" },
        { "a>-",
          "unable to parse requirement: [values[0]: Invalid value: \"-\": for 'Gt', 'Lt' "
          "operators, the value must be an integer, values[0][a]: Invalid value: \"-\": " LABEL_VALUE_RULE
          "]" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct selector s = { .n = 7 };
        str why = STR_NONE;
        is_int(selector_parse(a, str_of(rows[i].text), &s, &why), -1, rows[i].text);
        is_str(why, str_of(rows[i].why), "and why");
        is_int((int64_t)s.n, 7, "leaves the result alone");
    }
}

static void objects_make_selectors(void)
{
    static const struct {
        const char *object;
        const char *text;
        bool matches; /* {app: web} */
    } rows[] = {
        { "null", "", false },
        { "{}", "", true },
        { "{'matchLabels': {'b': '1', 'app': 'web'}}", "app=web,b=1", false },
        { "{'matchLabels': {'app': 'web'}, 'matchExpressions': [{'key': 'app', 'operator': 'In', "
          "'values': ['web', 'db']}, {'key': 'x', 'operator': 'DoesNotExist'}]}",
          "app=web,app in (db,web),!x", true },
        { "{'matchExpressions': [{'key': 'app', 'operator': 'NotIn', 'values': ['web']}]}",
          "app notin (web)", false },
        { "{'matchExpressions': [{'key': 'app', 'operator': 'Exists'}]}", "app", true },
    };
    static const struct {
        const char *object;
        const char *why;
    } wrong[] = {
        { "{'matchExpressions': [{'key': 'a', 'operator': 'in'}]}",
          "\"in\" is not a valid label selector operator" },
        { "{'matchExpressions': [{'key': 'a', 'operator': 'In'}]}",
          "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty" },
        { "{'matchExpressions': [{'key': 'a', 'operator': 'Exists', 'values': ['x']}]}",
          "values: Invalid value: [\"x\"]: values set must be empty for exists and does not exist" },
        { "{'matchLabels': {'a': '@'}}", "values[0][a]: Invalid value: \"@\": " LABEL_VALUE_RULE },
    };
    AUTO(jdoc) struct jdoc *labels = J("{'app': 'web'}");

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(rows[i].object);
        struct selector s = { 0 };
        str why = STR_NONE;
        is_int(selector_from_object(a, jdoc_root(d), &s, &why), 0, rows[i].object);
        is_str(selector_text(a, &s), str_of(rows[i].text), "prints");
        ok(selector_matches(&s, jdoc_root(labels)) == rows[i].matches, "and matches or not");
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(wrong[i].object);
        struct selector s = { 0 };
        str why = STR_NONE;
        is_int(selector_from_object(a, jdoc_root(d), &s, &why), -1, wrong[i].object);
        is_str(why, str_of(wrong[i].why), "and why");
    }
}

static void plain_maps_make_selectors(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J("{'b': '2', 'a': '1'}");
    struct selector s = selector_from_labels(a, jdoc_root(d));
    struct selector all = selector_from_labels(a, JV_ABSENT);

    is_str(selector_text(a, &s), S("a=1,b=2"), "sorted by key");
    ok(selector_matches(&s, jdoc_root(d)) && !selector_matches(&s, JV_ABSENT), "and match");
    ok(selector_matches(&all, JV_ABSENT), "no map selects everything");
}

static str lookup(const void *ctx, str field)
{
    return jv_str(jv_get((jv){ ctx }, field), S(""));
}

static void fields_are_selected(void)
{
    static const struct {
        const char *text;
        const char *canonical;
        bool matches;
    } rows[] = {
        { "", "", true },
        { "metadata.name=x", "metadata.name=x", true },
        { "metadata.name==x", "metadata.name=x", true },
        { "metadata.name!=x", "metadata.name!=x", false },
        { "status.phase!=Running,metadata.name=x", "metadata.name=x,status.phase!=Running", true },
        { "spec.nodeName=", "spec.nodeName=", true },
        { "v=a\\,b\\=c\\\\", "v=a\\,b\\=c\\\\", true },
        { ",,metadata.name=x,", "metadata.name=x", true },
        { "=", "", true },
    };
    static const struct {
        const char *text;
        const char *why;
    } wrong[] = {
        { "a", "invalid selector: 'a'; can't understand 'a'" },
        { "b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'" },
        { "a=b=c", "invalid field selector: unescaped character in value: 61" },
        { "a=\\x", "invalid field selector: invalid escape sequence: \\x" },
        { "a=\\", "invalid field selector: invalid escape sequence: \\" },
    };
    AUTO(jdoc)
    struct jdoc *d = J("{'metadata.name': 'x', 'status.phase': 'Pending', 'v': 'a,b=c\\\\'}");

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct field_selector s = { 0 };
        str why = STR_NONE;
        is_int(field_selector_parse(a, str_of(rows[i].text), &s, &why), 0, rows[i].text);
        is_str(field_selector_text(a, &s), str_of(rows[i].canonical), "prints");
        ok(field_selector_matches(&s, lookup, jdoc_root(d).node) == rows[i].matches,
           "and matches or not");
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct field_selector s = { 0 };
        str why = STR_NONE;
        is_int(field_selector_parse(a, str_of(wrong[i].text), &s, &why), -1, wrong[i].text);
        is_str(why, str_of(wrong[i].why), "and why");
    }
    AUTO(arena) struct arena *a = arena_new();
}

int main(void)
{
    selectors_match_and_print();
    wrong_selectors_are_refused_in_kubernetes_words();
    objects_make_selectors();
    plain_maps_make_selectors();
    fields_are_selected();
    return tap_done();
}
