/* Quantities: canonical forms as kube-apiserver v1.34 answers them. */

#include "base/quantity.h"
#include "tap.h"

static void amounts_print_as_kubernetes_prints_them(void)
{
    static const struct {
        const char *text;
        const char *canonical;
        int64_t value;
        int64_t milli;
    } rows[] = {
        { "0", "0", 0, 0 },
        { "1", "1", 1, 1000 },
        { "100m", "100m", 1, 100 },
        { "0.5", "500m", 1, 500 },
        { "1.5", "1500m", 2, 1500 },
        { "12E", "12E", INT64_MAX, INT64_MAX },
        { "1n", "1n", 1, 1 },
        { "1e3", "1e3", 1000, 1000000 },
        { "1E3", "1E3", 1000, 1000000 },
        { "1e-3", "1e-3", 1, 1 },
        { "1.5e3", "1500", 1500, 1500000 },
        { "1e2", "100", 100, 100000 },
        { "10e-1", "1", 1, 1000 },
        { "0e5", "0", 0, 0 },
        { "1e21", "1e21", INT64_MAX, INT64_MAX },
        { "1Gi", "1Gi", 1073741824, 1073741824000 },
        { "1.5Gi", "1536Mi", 1610612736, 1610612736000 },
        { "-1.5Gi", "-1536Mi", -1610612736, -1610612736000 },
        { "1024Mi", "1Gi", 1073741824, 1073741824000 },
        { "1023Mi", "1023Mi", 1072693248, 1072693248000 },
        { "64.0Gi", "64Gi", 68719476736, 68719476736000 },
        { "0.1Ki", "102400m", 103, 102400 },
        { "0.5Ki", "512", 512, 512000 },
        { "0.5Mi", "512Ki", 524288, 524288000 },
        { "1000m", "1", 1, 1000 },
        { "1000", "1k", 1000, 1000000 },
        { "2000000", "2M", 2000000, 2000000000 },
        { "1.1", "1100m", 2, 1100 },
        { "1.123", "1.123", 2, 1123 }, /* kept as written, odd as it looks */
        { "1.1230", "1123m", 2, 1123 },
        { "12.340", "12.340", 13, 12340 },
        { "0.123", "123m", 1, 123 },
        { "1.000", "1", 1, 1000 },
        { "01Ki", "01Ki", 1024, 1024000 },
        { "00012k", "00012k", 12000, 12000000 },
        { "+5", "+5", 5, 5000 },
        { "-1", "-1", -1, -1000 },
        { "-0", "0", 0, 0 },
        { "-1500m", "-1500m", -2, -1500 },
        { "0.1m", "100u", 1, 1 },
        { "0.0001n", "1n", 1, 1 },
        { "0.0000000011", "2n", 1, 1 },
        { "1.2345678901234", "1234567891n", 2, 1235 },
        { "1.25m", "1250u", 1, 2 },
        { "7Ei", "7Ei", 8070450532247928832, INT64_MAX },
        { "8Ei", "9223372036854775807", INT64_MAX, INT64_MAX }, /* the largest binary amount */
        { "9223372036854775808", "9223372036854775808", INT64_MAX, INT64_MAX },
        { "100000000000000000000", "100E", INT64_MAX, INT64_MAX },
        { ".5", "500m", 1, 500 },
        { "5.", "5.", 5, 5000 },
        { ".", "0", 0, 0 },
        { "+", "0", 0, 0 },
        { "Ki", "0", 0, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct quantity q = { 0 };
        is_int(quantity_parse(str_of(rows[i].text), &q, NULL), 0, rows[i].text);
        is_str(quantity_text(a, &q), str_of(rows[i].canonical), "prints");
        is_int(quantity_value(&q), rows[i].value, "its value");
        is_int(quantity_milli(&q), rows[i].milli, "in thousandths");
    }
}

static void other_text_is_refused(void)
{
    static const char format[] = "quantities must match the regular expression "
                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    static const char suffix[] = "unable to parse quantity's suffix";
    static const struct {
        const char *text;
        const char *error;
    } rows[] = {
        { "", format },
        { "x", format },
        { "1 Gi", format },
        { "1.2.3", format },
        { "1e3.5", format },
        { "--1", suffix },
        { "1K", suffix },
        { "1Kii", suffix },
        { "1e", suffix },
        { "1e+-3", format },
        { "1m5", suffix },
        { "1g", format },
        { "+Pi", "unable to parse numeric part of quantity" },
        { ".e-20", "unable to parse numeric part of quantity" },
        { "999999999999999999999999999999999999999999", "quantity out of range" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct quantity q = { .value = 7 };
        struct err e = { 0 };
        is_int(quantity_parse(str_of(rows[i].text), &q, &e), -1, rows[i].text);
        is_str(str_of(e.msg), str_of(rows[i].error), "and why");
        ok(q.value == 7, "leaves the result alone");
    }
}

static void json_of_several_types_is_an_amount(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J("[' 1Gi ', 2, 0.5, null, 1e3, true, {}]");
    static const char *const want[] = { "1Gi", "2", "500m", "0", "1e3" };
    struct quantity q;

    for (size_t i = 0; i < COUNT(want); i++) {
        is_int(quantity_from_json(a, jv_index(jdoc_root(d), i), &q, NULL), 0, "read");
        is_str(quantity_text(a, &q), str_of(want[i]), want[i]);
    }
    is_int(quantity_from_json(a, jv_index(jdoc_root(d), 5), &q, NULL), -1, "a boolean is none");
    is_int(quantity_from_json(a, jv_index(jdoc_root(d), 6), &q, NULL), -1, "an object is none");
}

static void amounts_compare_and_add_across_forms(void)
{
    static const struct {
        const char *x, *y;
        int cmp;
        const char *sum, *difference;
    } rows[] = {
        { "1", "1000m", 0, "2", "0" },
        { "1Ki", "1k", 1, "2024", "24" },
        { "500m", "1", -1, "1500m", "-500m" },
        { "0", "1Gi", -1, "1Gi", "-1Gi" },
        { "1Gi", "512Mi", 1, "1536Mi", "512Mi" },
        { "1Gi", "1", 1, "1073741825", "1073741823" },
        { "100m", "1Mi", -1, "1048576100m", "-1048575900m" },
        { "-1", "1", -1, "0", "-2" },
        { "1E", "1n", 1, "1000000000000000000000000001n", "999999999999999999999999999n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct quantity x, y;
        quantity_parse(str_of(rows[i].x), &x, NULL);
        quantity_parse(str_of(rows[i].y), &y, NULL);
        ok(quantity_cmp(&x, &y) == rows[i].cmp && quantity_cmp(&y, &x) == -rows[i].cmp,
           "%s and %s compare", rows[i].x, rows[i].y);
        struct quantity sum = x;
        ok(quantity_add(&sum, &y) == 0, "they add");
        is_str(quantity_text(a, &sum), str_of(rows[i].sum), "to");
        ok(quantity_sub(&x, &y) == 0, "and subtract");
        is_str(quantity_text(a, &x), str_of(rows[i].difference), "to");
    }
}

static void sums_that_do_not_fit_are_refused(void)
{
    struct quantity big, small;

    quantity_parse(S("1e37"), &big, NULL);
    quantity_parse(S("1n"), &small, NULL);
    is_int(quantity_add(&big, &small), -1, "46 digits are too many");
    ok(quantity_cmp(&big, &small) == 1 && quantity_cmp(&small, &big) == -1, "yet they compare");
}

static void rounding_up_leaves_thousandths(void)
{
    static const struct {
        const char *text, *rounded;
    } rows[] = { { "1n", "1m" }, { "1.0001", "1001m" }, { "1.123", "1.123" },  { "-1n", "-1m" },
                 { "5", "5" },   { "1234567n", "2m" },  { "0.1Ki", "102400m" } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct quantity q;
        quantity_parse(str_of(rows[i].text), &q, NULL);
        quantity_round_up(&q, -3);
        is_str(quantity_text(a, &q), str_of(rows[i].rounded), rows[i].text);
    }
}

int main(void)
{
    amounts_print_as_kubernetes_prints_them();
    other_text_is_refused();
    json_of_several_types_is_an_amount();
    amounts_compare_and_add_across_forms();
    sums_that_do_not_fit_are_refused();
    rounding_up_leaves_thousandths();
    return tap_done();
}
