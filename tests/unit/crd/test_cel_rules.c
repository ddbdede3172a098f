/* Rules in CEL: what they find and say, as the real server did; and which ones are not ours. */

#include "builtin/types/types.h"
#include "golden.h"

static void one_definition(jv definition)
{
    AUTO(crd) struct crd *c = crd_compile(jv_at(definition, "crd"), &meta_ObjectMeta, NULL);
    str name = jv_str(jv_at(definition, "name"), S(""));

    AUTO(arena) struct arena *all = arena_new();
    is_json(crd_cel_rules(all, jv_at(definition, "crd")), "[]",
            arena_printf(all, "%" PRI_STR ": every rule can be run", STR_ARG(name)).p);
    JV_EACH (it, jv_at(definition, "cases")) {
        AUTO(arena) struct arena *a = arena_new();
        struct problems ps = { .a = a };
        jv obj = jv_at(it.value, "object");

        crd_validate(&ps, c->storage, obj, jv_at(it.value, "old"));
        is_str(golden_problems(a, &ps), golden_causes(a, jv_at(it.value, "causes")),
               arena_printf(a, "%" PRI_STR ": %" PRI_STR, STR_ARG(name),
                            STR_ARG(json_text(a, jv_at(obj, "spec"))))
                   .p);
    }
}

static void matches_the_real_server(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "rules");

    JV_EACH (it, jv_at(jdoc_root(d), "definitions"))
        one_definition(it.value);
}

/* A definition with one rule on an object of several fields. */
static struct jdoc *with_rule(const char *rule)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'type': 'object', 'properties': {'i': {'type': 'integer'}, 's': {'type': 'string'},"
          " 't': {'type': 'string', 'format': 'date-time'}, 'any': {'type': 'object',"
          " 'x-kubernetes-preserve-unknown-fields': true}, 'a-b': {'type': 'integer'},"
          " 'if': {'type': 'integer'}}}");
    jv rules = jarr(a, jobj(a, { "rule", jstr(a, str_of(rule)) }));
    jv schema = jv_with(a, jdoc_root(d), rules, "x-kubernetes-validations");
    jv version = jobj(a, { "name", jstrz(a, "v1") }, { "storage", JV_TRUE },
                      { "schema", jobj(a, { "openAPIV3Schema", schema }) });
    jv crd = jobj(a, { "spec", jobj(a, { "versions", jarr(a, version) }) });

    return jdoc_parse(json_text(a, crd), NULL, NULL);
}

static void rules_outside_of_our_part_are_named(void)
{
    static const struct {
        const char *rule;
        bool runs;
    } rows[] = {
        { "self.i > 1", true },
        { "self.a__dash__b > 1 && self.__if__ > 2", true },
        { "self.t > timestamp('2020-01-01T00:00:00Z')", false },
        { "self.any.foo == 1", false },
        { "self.nothing == 1", false },
        { "self.s.format('x') == 'y'", false },
        { "self.i + 's' == 's'", false },
        { "self.", false },
        { "self.i > 1 &&", false },
        { "quantity(self.s).isGreaterThan(quantity('1'))", false },
        { "self.i", false },
        { "((((((((((self.i))))))))))) > 1", false },
        { "self.?i.orValue(1) > 0", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = with_rule(rows[i].rule);

        is_int((int64_t)jv_len(crd_cel_rules(a, jdoc_root(d))), !rows[i].runs, rows[i].rule);
    }
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = with_rule("url(self.s).getHost() == 'x'");
    is_json(
        crd_definition_warnings(a, jdoc_root(d), JV_ABSENT),
        "['spec.versions[0].schema.openAPIV3Schema.x-kubernetes-validations[0]: this rule is not "
        "enforced: \\'url(self.s).getHost() == \\u0027x\\u0027\\'']",
        "and a warning says where and which");
}

static void what_is_let_pass_is_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = with_rule("self.s == ''");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct problems waived = { .a = a };
    struct problems ps = { .a = a, .waived = &waived };
    AUTO(jdoc) struct jdoc *obj = J("{'s': 'wrong'}");

    crd_validate(&ps, c->storage, jdoc_root(obj), jdoc_root(obj));
    is_int((int64_t)ps.n, 0, "what was wrong before is let pass");
    is_int((int64_t)waived.n, 1, "and told");
    ps.waived = NULL;
    crd_validate(&ps, c->storage, jdoc_root(obj), jdoc_root(obj));
    is_int((int64_t)ps.n, 0, "unless nobody wants to know");
}

static void values_become_those_of_other_types(void)
{
    static const struct {
        const char *rule;
        const char *wrong; /* NULL: it holds */
    } rows[] = {
        { "int('12') == 12 && int('-3') == -3 && int(2.9) == 2 && int(-2.9) == -2 && int(7) == 7",
          NULL },
        { "double('1.5') == 1.5 && double(2) == 2.0", NULL },
        { "string(3) == '3' && string(true) == 'true' && string('x') == 'x'", NULL },
        { "int('12') == 13", "failed rule" },
        { "int('x') == 1", "strconv.ParseInt: parsing \"x\": invalid syntax" },
        { "int(1e300) == 1", "integer overflow" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = with_rule(rows[i].rule);
        AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
        struct problems ps = { .a = a };

        crd_validate(&ps, c->storage, JV_EMPTY_OBJ, JV_ABSENT);
        ok(rows[i].wrong ? ps.n == 1 && str_contains(ps.at[0].message, str_of(rows[i].wrong))
                         : ps.n == 0,
           "%s: %.*s", rows[i].rule, STR_ARG(problems_text(a, &ps)));
    }
}

static void a_rule_that_never_ends_is_stopped(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        with_rule("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b,"
                  "[1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d,"
                  "[1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a + b > 0))))))");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct problems ps = { .a = a };

    crd_validate(&ps, c->storage, JV_EMPTY_OBJ, JV_ABSENT);
    is_int((int64_t)ps.n, 1, "one problem");
    ok(ps.n && str_contains(ps.at[0].message, S("actual cost limit exceeded")), "about its cost");
}

/* What one rule says of an object; empty: nothing. */
static str outcome(struct arena *a, const char *rule, jv obj)
{
    AUTO(jdoc) struct jdoc *d = with_rule(rule);
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct problems ps = { .a = a };

    crd_validate(&ps, c->storage, obj, JV_ABSENT);
    return ps.n ? arena_str(a, problems_text(a, &ps)) : S("");
}

static jv object_of(struct arena *a, size_t n)
{
    char *text = arena_alloc(a, n);

    memset(text, 'a', n);
    return jobj(a, { "s", jstr(a, (str){ text, n }) });
}

static void bytes_are_counted(void)
{
    static const char *const rows[] = {
        "self.s.replace('a', 'aaaaaaaaaa').replace('a', 'aaaaaaaaaa').replace('a', 'aaaaaaaaaa')"
        ".size() > 0",
        "[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, self.s + self.s)).size() > 0",
        "self.s.split('a').join('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb').size() > 0",
        "[1,2,3,4,5,6,7,8,9].map(a, self.s.upperAscii().lowerAscii().upperAscii().lowerAscii())"
        ".size() > 0",
        "self.s.lastIndexOf(self.s.substring(600000) + 'b') < 0",
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        str said = outcome(a, rows[i], object_of(a, 1400000));
        ok(str_contains(said, S("call cost exceeds limit for rule")), "%s: %.*s", rows[i],
           (int)(said.n < 200 ? said.n : 200), said.n ? said.p : "");
    }
}

static void text_of_the_usual_size_is_worked_on(void)
{
    static const char *const rows[] = {
        "self.s.replace('a', 'bb').size() == 20000",
        "self.s.split('a').size() == 10001",
        "self.s.split('a').join('-').size() == 10000",
        "self.s.lastIndexOf('a') == 9999 && self.s.indexOf('aa') == 0 && self.s.indexOf('b') == -1",
        "self.s.lastIndexOf('') == 10000 && self.s.lastIndexOf('ab') == -1",
        "'a,b,'.split(',') == ['a', 'b', ''] && ''.split(',') == ['']",
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        is_str(outcome(a, rows[i], object_of(a, 10000)), S(""), rows[i]);
    }
}

/* Asking for each member of an object in turn costs as much as there are members. */
static void members_of_large_objects_are_found_at_once(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'versions': [{'name': 'v1', 'storage': true, 'schema': "
          "{'openAPIV3Schema': {'type': 'object', 'properties': {'m': {'type': "
          "'object', 'additionalProperties': {'type': 'string'}}},"
          "'x-kubernetes-validations': [{'rule': 'self.m.all(k, self.m[k].size() == 1)'},"
          "{'rule': 'self.m == self.m'}]}}}]}}");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct jbuild m = jb_obj(a);
    struct problems ps = { .a = a };

    for (int i = 0; i < 50000; i++)
        jb_add(&m, arena_printf(a, "k%d", i), jstrz(a, "v"));
    crd_validate(&ps, c->storage, jobj(a, { "m", jb_done(&m) }), JV_ABSENT);
    is_str(ps.n ? problems_text(a, &ps) : S(""), S(""), "fifty thousand members pass");
}

static void all_rules_share_a_budget(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'versions': [{'name': 'v1', 'storage': true, 'schema': {'openAPIV3Schema': "
          "{'type': 'object', 'properties': {'l': {'type': 'array', 'items': {'type': 'integer', "
          "'x-kubernetes-validations': [{'rule': '[1,2,3,4,5,6,7,8,9,10].all(a, "
          "[1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, a + b + c > self)))'}]}}}"
          "}}}]}}");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct jbuild l = jb_arr(a);
    struct problems ps = { .a = a };

    for (int i = 0; i < 100000; i++)
        jb_push(&l, jint(a, 0));
    crd_validate(&ps, c->storage, jobj(a, { "l", jb_done(&l) }), JV_ABSENT);
    is_int((int64_t)ps.n, 1, "one problem for a hundred thousand runs");
    ok(ps.n && str_contains(ps.at[0].message, S("running out of cost budget")), "about the budget");
}

static void long_chains_do_not_run_out_of_stack(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct {
        const char *first, *more;
    } rows[] = { { "true", " && true" },
                 { "1", " + 1" },
                 { "self", ".x" },
                 { "self", "[0]" },
                 { "self", ".trim()" } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(buf) struct buf b = { 0 };
        buf_add(&b, str_of(rows[i].first));
        for (int k = 0; k < 100000; k++)
            buf_add(&b, str_of(rows[i].more));
        AUTO(jdoc) struct jdoc *d = with_rule(arena_z(a, buf_str(&b)));
        AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
        struct problems ps = { .a = a };
        crd_validate(&ps, c->storage, JV_EMPTY_OBJ, JV_ABSENT);
        ok(ps.n == 0 && jv_len(crd_cel_rules(a, jdoc_root(d))) == 1,
           "%s%s%s... is a rule that we do not run", rows[i].first, rows[i].more, rows[i].more);
    }
}

int main(int argc, char **argv)
{
    matches_the_real_server(argc > 1 ? argv[1] : ".");
    rules_outside_of_our_part_are_named();
    what_is_let_pass_is_told();
    values_become_those_of_other_types();
    a_rule_that_never_ends_is_stopped();
    bytes_are_counted();
    text_of_the_usual_size_is_worked_on();
    members_of_large_objects_are_found_at_once();
    all_rules_share_a_budget();
    long_chains_do_not_run_out_of_stack();
    return tap_done();
}
