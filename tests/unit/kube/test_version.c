/* The order of API versions. */

#include "kube/version.h"
#include "tap.h"

static void later_and_stabler_versions_come_first(void)
{
    static const char *const order[] = { "v10",      "v2",      "v1",        "v11beta2",
                                         "v10beta3", "v3beta1", "v12alpha1", "v11alpha2",
                                         "foo1",     "foo10" };

    for (size_t i = 0; i + 1 < COUNT(order); i++) {
        ok(version_compare(str_of(order[i]), str_of(order[i + 1])) < 0, "%s before %s", order[i],
           order[i + 1]);
        ok(version_compare(str_of(order[i + 1]), str_of(order[i])) > 0, "%s after %s", order[i + 1],
           order[i]);
    }
    is_int(version_compare(S("v1"), S("v1")), 0, "a version is as good as itself");
}

int main(void)
{
    later_and_stabler_versions_come_first();
    return tap_done();
}
