/* The whole test framework: TAP out, one file a test program. End main with `return tap_done();`.
 */
#pragma once

#include "base/json.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

extern unsigned alarm(unsigned seconds); /* not unistd.h: tests have names of their own */

static int tap_n;
static int tap_bad;

/* One that hangs fails, also where nobody else limits its time; but not one in a debugger. */
__attribute__((constructor)) static void tap_limit(void)
{
    const char *seconds = getenv("TAP_SECONDS");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    alarm(seconds ? (unsigned)atoi(seconds) : 3000);
#else
    alarm(seconds ? (unsigned)atoi(seconds) : 600);
#endif
}

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool pass, const char *fmt, ...)
{
    va_list ap;

    tap_bad += !pass;
    printf("%s %d - ", pass ? "ok" : "not ok", ++tap_n);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    return pass;
}

__attribute__((unused)) static void is_int(int64_t got, int64_t want, const char *what)
{
    if (!ok(got == want, "%s", what))
        printf("# got %" PRId64 ", want %" PRId64 "\n", got, want);
}

__attribute__((unused)) static void is_str(str got, str want, const char *what)
{
    if (!ok(str_eq(got, want), "%s", what))
        printf("# got  %" PRI_STR "\n# want %" PRI_STR "\n", STR_ARG(got), STR_ARG(want));
}

/* A document written with single quotes, for readable tests. */
__attribute__((unused)) static struct jdoc *J(const char *quoted)
{
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    for (const char *p = quoted; *p; p++)
        buf_addc(&b, *p == '\'' ? '"' : *p);
    struct jdoc *d = jdoc_parse(buf_str(&b), NULL, &e);
    if (!d) {
        printf("Bail out! test document: %s\n", e.msg);
        exit(1);
    }
    return d;
}

/* Compares with a document written with single quotes; the order of members counts. */
__attribute__((unused)) static void is_json(jv got, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J(want);

    is_str(json_text(a, got), json_text(a, jdoc_root(d)), what);
}

__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_n);
    return tap_bad != 0;
}
