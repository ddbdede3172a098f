/* Tables of what pods and nodes use, with the columns of metrics-server. */

#include "builtin/cells/internal.h"

#include "base/quantity.h"

#define USAGE_COLUMNS                                                 \
    NAME_COLUMN, { "cpu", "string", "quantity", 0, "CPU in cores." }, \
        { "memory", "string", "quantity", 0, "Memory in bytes." },    \
    {                                                                 \
        "Window", "string", "duration", 0, "The time measured."       \
    }

const struct kind_column nodemetrics_columns[] = { USAGE_COLUMNS };
const struct kind_column podmetrics_columns[] = { USAGE_COLUMNS };

jv nodemetrics_cells(const struct kind_ctx *c, jv obj)
{
    jv usage = jv_at(obj, "usage");

    return jarr(c->a, cell_name(c, obj), quantity_cell(c, jv_at(usage, "cpu")),
                quantity_cell(c, jv_at(usage, "memory")), cell_text(c, jv_at(obj, "window")));
}

static jv sum_of(const struct kind_ctx *c, jv obj, const char *what)
{
    struct quantity sum = { 0 }, one;

    JV_EACH (it, jv_at(obj, "containers"))
        if (quantity_from_json(c->a, jv_at(it.value, "usage", what), &one, NULL) == 0) {
            sum.format = one.format;
            quantity_add(&sum, &one);
        }
    return jstr(c->a, quantity_text(c->a, &sum));
}

jv podmetrics_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), sum_of(c, obj, "cpu"), sum_of(c, obj, "memory"),
                cell_text(c, jv_at(obj, "window")));
}
