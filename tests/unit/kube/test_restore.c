/* What is said of values that do not fit their type, when a strategic patch brings them. */

#include "kube/restore.h"
#include "tap.h"

static const struct schema numbers = { .type = SCHEMA_LIST, .items = &schema_int32 };
static const struct schema labels = { .type = SCHEMA_MAP, .items = &schema_string };
static const struct schema_field fields[] = {
    { .name = S_INIT("count"), .schema = &schema_int32 },
    { .name = S_INIT("name"), .schema = &schema_string },
    { .name = S_INIT("ratio"), .schema = &schema_double },
    { .name = S_INIT("ports"), .schema = &numbers },
    { .name = S_INIT("labels"), .schema = &labels },
};
static const struct schema thing = { .type = SCHEMA_OBJECT,
                                     .fields = fields,
                                     .n_fields = COUNT(fields) };

static void says(const char *json, const char *words)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(json);

    is_str(restore_problem(a, &thing, jdoc_root(d)), str_of(words), json);
}

int main(void)
{
    says("{'count': 1, 'name': 'x', 'ratio': 2, 'ports': [1], 'labels': {'a': 'b'}}", "");
    says("{'count': null, 'unknown': [1]}", "");
    says("{'count': 'three'}", "unrecognized type: int32");
    says("{'count': 1.5}", "cannot convert float64 to int32");
    says("{'name': 5}", "cannot convert int64 to string");
    says("{'name': true}", "unrecognized type: string");
    says("{'ports': {'a': 1}}", "cannot restore slice from map");
    says("{'ports': [1, 'x']}", "unrecognized type: int32");
    says("{'labels': ['a']}", "cannot restore map from slice");
    says("{'labels': {'a': []}}", "unrecognized type: string");
    says("[1]", "cannot restore struct from: slice");
    return tap_done();
}
