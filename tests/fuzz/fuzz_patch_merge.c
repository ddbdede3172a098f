/* Merge patch. */

#include "fuzz/patch.h"
#include "kube/patch_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_patch(data, size, patch_merge);
}
