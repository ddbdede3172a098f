/* Times, durations and ages, against what Go and kubectl answer. */

#include "base/time.h"
#include "tap.h"

static void times_read_as_go_reads_them(void)
{
    static const struct {
        const char *text;
        int64_t us;
        const char *prints;
    } rows[] = {
        { "1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z" },
        { "2006-01-02T15:04:05Z", 1136214245000000, "2006-01-02T15:04:05Z" },
        { "2006-01-02T15:04:05-07:00", 1136239445000000, "2006-01-02T22:04:05Z" },
        { "2006-01-02T15:04:05.123456789+01:30", 1136208845123456, "2006-01-02T13:34:05Z" },
        { "2006-01-02T15:04:05,5Z", 1136214245500000, "2006-01-02T15:04:05Z" },
        { "2006-01-02T5:04:05Z", 1136178245000000, "2006-01-02T05:04:05Z" },
        { "2000-02-29T00:00:00Z", 951782400000000, "2000-02-29T00:00:00Z" },
        { "1969-12-31T23:59:59.5Z", -500000, "1969-12-31T23:59:59Z" },
        { "0000-01-01T00:00:00Z", -62167219200000000, "0000-01-01T00:00:00Z" },
        { "9999-12-31T23:59:59Z", 253402300799000000, "9999-12-31T23:59:59Z" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        int64_t us = 1;
        int rc = time_parse(str_of(rows[i].text), &us, NULL);
        ok(rc == 0 && us == rows[i].us, "%s is %" PRId64 " us", rows[i].text, us);
        int64_t ms = us / 1000 - (us % 1000 < 0);
        is_str(time_text(a, ms), str_of(rows[i].prints), "and prints");
    }
}

static void wrong_times_are_refused_in_go_s_words(void)
{
    static const struct {
        const char *text;
        const char *error;
    } rows[] = {
        { "x",
          "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"" },
        { "", "parsing time \"\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"2006\"" },
        { "2024-13-01T00:00:00Z", "parsing time \"2024-13-01T00:00:00Z\": month out of range" },
        { "2023-02-29T00:00:00Z", "parsing time \"2023-02-29T00:00:00Z\": day out of range" },
        { "1900-02-29T00:00:00Z", "parsing time \"1900-02-29T00:00:00Z\": day out of range" },
        { "2024-01-01T24:00:00Z", "parsing time \"2024-01-01T24:00:00Z\": hour out of range" },
        { "2024-01-01T00:00:60Z", "parsing time \"2024-01-01T00:00:60Z\": second out of range" },
        { "2024-01-01T00:00:00", "parsing time \"2024-01-01T00:00:00\" as "
                                 "\"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"Z07:00\"" },
        { "2024-01-01T00:00:00z", "parsing time \"2024-01-01T00:00:00z\" as \"2006-01-02T15:04:05Z"
                                  "07:00\": cannot parse \"z\" as \"Z07:00\"" },
        { "2024-01-01 00:00:00Z", "parsing time \"2024-01-01 00:00:00Z\" as \"2006-01-02T15:04:05Z"
                                  "07:00\": cannot parse \" 00:00:00Z\" as \"T\"" },
        { "2024-01-01T00:00:00Zx", "parsing time \"2024-01-01T00:00:00Zx\": extra text: \"x\"" },
        { "2024-01-01T00:00:00+25:00",
          "parsing time \"2024-01-01T00:00:00+25:00\": time zone offset hour out of range" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = { 0 };
        int64_t us = 7;
        is_int(time_parse(str_of(rows[i].text), &us, &e), -1, rows[i].text);
        is_str(str_of(e.msg), str_of(rows[i].error), "and why");
        is_int(us, 7, "leaves the result alone");
    }
}

static void micro_times_have_six_digits(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    int64_t us = 0;

    is_int(time_parse_micro(S("2006-01-02T15:04:05.000123Z"), &us, NULL), 0, "six are read");
    is_int(us, 1136214245000123, "to the microsecond");
    is_str(time_text_micro(a, us), S("2006-01-02T15:04:05.000123Z"), "and printed");
    is_str(time_text_micro(a, -1), S("1969-12-31T23:59:59.999999Z"), "before 1970 too");
    is_int(time_parse_micro(S("2006-01-02T15:04:05Z"), &us, &e), -1, "none are refused");
    is_str(str_of(e.msg),
           S("parsing time \"2006-01-02T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": "
             "cannot parse \"Z\" as \".000000\""),
           "as Kubernetes does");
    is_int(time_parse_micro(S("2006-01-02T15:04:05.0001234Z"), &us, NULL), -1, "seven are refused");
}

static void durations_read_and_print_as_in_go(void)
{
    static const struct {
        const char *text;
        int64_t ns;
        const char *prints;
    } rows[] = {
        { "0", 0, "0s" },
        { "1h2m3.5s", 3723500000000, "1h2m3.5s" },
        { "300ms", 300000000, "300ms" },
        { "-1.5h", -5400000000000, "-1h30m0s" },
        { "1.5us", 1500, "1.5\xc2\xb5s" },
        { "1\xce\xbcs", 1000, "1\xc2\xb5s" },
        { "90m", 5400000000000, "1h30m0s" },
        { "1ns", 1, "1ns" },
        { "+5s", 5000000000, "5s" },
        { ".5s", 500000000, "500ms" },
        { "100h", 360000000000000, "100h0m0s" },
        { "-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s" },
    };
    static const struct {
        const char *text;
        const char *error;
    } wrong[] = {
        { "", "time: invalid duration \"\"" },
        { "3", "time: missing unit in duration \"3\"" },
        { "1d", "time: unknown unit \"d\" in duration \"1d\"" },
        { ".s", "time: invalid duration \".s\"" },
        { "s", "time: invalid duration \"s\"" },
        { "9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\"" },
        { "3000000h", "time: invalid duration \"3000000h\"" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        int64_t ns = 1;
        int rc = duration_parse(str_of(rows[i].text), &ns, NULL);
        ok(rc == 0 && ns == rows[i].ns, "%s is %" PRId64 " ns", rows[i].text, ns);
        is_str(duration_text(a, ns), str_of(rows[i].prints), "and prints");
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct err e = { 0 };
        int64_t ns = 0;
        is_int(duration_parse(str_of(wrong[i].text), &ns, &e), -1, wrong[i].text);
        is_str(str_of(e.msg), str_of(wrong[i].error), "and why");
    }
}

static void ages_print_as_in_kubectl(void)
{
    static const struct {
        int64_t s;
        const char *text;
    } rows[] = {
        { -5, "<invalid>" },    { -1, "0s" },        { 0, "0s" },          { 119, "119s" },
        { 120, "2m" },          { 121, "2m1s" },     { 599, "9m59s" },     { 600, "10m" },
        { 7199, "119m" },       { 10799, "179m" },   { 10800, "3h" },      { 10860, "3h1m" },
        { 28799, "7h59m" },     { 28800, "8h" },     { 172799, "47h" },    { 172800, "2d" },
        { 183600, "2d3h" },     { 691200, "8d" },    { 34560000, "400d" }, { 63072000, "2y" },
        { 71712000, "2y100d" }, { 252288000, "8y" }, { 999999999, "31y" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        is_str(age_text(a, rows[i].s * 1000), str_of(rows[i].text), rows[i].text);
    }
}

static void seconds_never_overflow(void)
{
    is_int(seconds_ms(30), 30000, "seconds are so many ms");
    is_int(seconds_ms(-5), 0, "none are less than none");
    is_int(seconds_ms(SECONDS_MOST), 2147483647000, "68 years");
    is_int(seconds_ms(SECONDS_MOST + (int64_t)1), 2147483647000, "are the most");
    is_int(seconds_ms(INT64_MAX), 2147483647000, "however many are asked for");
}

int main(void)
{
    times_read_as_go_reads_them();
    wrong_times_are_refused_in_go_s_words();
    micro_times_have_six_digits();
    durations_read_and_print_as_in_go();
    ages_print_as_in_kubectl();
    seconds_never_overflow();
    return tap_done();
}
