/* The order in which versions are preferred. */

#include "kube/version.h"
#include "tap.h"

#include <stdlib.h>

static int by_preference(const void *x, const void *y)
{
    return version_compare(*(const str *)x, *(const str *)y);
}

int main(void)
{
    str versions[] = { S("foo10"), S("v1alpha1"), S("v3beta1"),   S("v10"),
                       S("v1"),    S("v2"),       S("v11alpha2"), S("v12alpha1"),
                       S("foo1"),  S("v10beta3"), S("v11beta2") };
    AUTO(buf) struct buf b = { 0 };

    qsort(versions, COUNT(versions), sizeof(str), by_preference);
    for (size_t i = 0; i < COUNT(versions); i++) {
        buf_add(&b, versions[i]);
        buf_addc(&b, ' ');
    }
    /* the example of the Kubernetes documentation on CRD versions */
    is_str(buf_str(&b),
           S("v10 v2 v1 v11beta2 v10beta3 v3beta1 v12alpha1 v11alpha2 v1alpha1 foo1 foo10 "),
           "stable before beta before alpha before anything else, higher first");
    return tap_done();
}
