/* Strategic merge patch, by a small schema. */

#include "fuzz/patch.h"
#include "kube/patch_strategic.h"
#include "unit/kube/mini_schema.h"

static jv patch_mini_pod(struct arena *a, jv doc, jv patch, struct err *e)
{
    return patch_strategic(a, &mini_pod, doc, patch, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_patch(data, size, patch_mini_pod);
}
