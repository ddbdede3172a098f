/* Amounts of resources for people. */

#include "sched/why.h"

static str with_unit(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti" };
    size_t u = 0;
    int64_t one = 1;

    while (u + 1 < COUNT(units) && bytes / 1024 >= one) {
        one *= 1024;
        u++;
    }
    if (bytes % one == 0)
        return arena_printf(a, "%lld%s", (long long)(bytes / one), units[u]);
    return arena_printf(a, "%.1f%s", (double)bytes / (double)one, units[u]);
}

str amount_text(struct arena *a, str resource, int64_t n)
{
    if (str_eqz(resource, "cpu"))
        return n % 1000 ? arena_printf(a, "%lldm", (long long)n)
                        : arena_printf(a, "%lld", (long long)(n / 1000));
    if (str_eqz(resource, "memory") || str_eqz(resource, "ephemeral-storage") ||
        str_starts(resource, S("hugepages-")))
        return with_unit(a, n);
    return arena_printf(a, "%lld", (long long)n);
}

str resource_text(struct arena *a, str resource, int64_t n)
{
    str amount = amount_text(a, resource, n);

    if (str_eqz(resource, "cpu"))
        return arena_printf(a, "%" PRI_STR " CPU%s", STR_ARG(amount), n == 1000 ? "" : "s");
    if (str_eqz(resource, "pods"))
        return arena_printf(a, "room for %" PRI_STR " pod%s", STR_ARG(amount), n == 1 ? "" : "s");
    return arena_printf(a, "%" PRI_STR " %s%" PRI_STR, STR_ARG(amount),
                        str_eqz(resource, "memory") ? "of " : "", STR_ARG(resource));
}
