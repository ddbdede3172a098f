/* Matching with PCRE2. Go's engine is linear and knows no back references, so where backtracking
 * gives up the same expression is run as a finite automaton, which always ends. */

#define PCRE2_CODE_UNIT_WIDTH 8

#include "crd/pattern.h"

#include <pcre2.h>
#include <stdlib.h>

enum {
    MATCH_STEPS = 20000,
    DFA_WORKSPACE = 4096,
    UNKNOWN_PROPERTY = PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY
};

struct crd_pattern {
    pcre2_code *code;
    pcre2_match_context *limits;
};

static void code_release(void *code)
{
    pcre2_code_free(code);
}

static void limits_release(void *limits)
{
    pcre2_match_context_free(limits);
}

const struct crd_pattern *pattern_new(struct arena *a, str text, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR words[128];

    if (pattern_translate(arena_str(a, text), &b, e) < 0)
        return NULL;
    pcre2_compile_context *ctx = pcre2_compile_context_create(NULL);
    if (!ctx)
        abort();
    pcre2_set_newline(ctx, PCRE2_NEWLINE_LF);
    struct crd_pattern *p = ARENA_NEW(a, struct crd_pattern);
    p->code = pcre2_compile((PCRE2_SPTR)(b.p ? b.p : ""), b.n,
                            PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UCP | PCRE2_DUPNAMES,
                            &code, &at, ctx);
    pcre2_compile_context_free(ctx);
    if (!p->code) {
        str read = str_sub(buf_str(&b), 0, at);
        str property = str_sub(read, (size_t)(str_rfind(read, '\\') + 1), at);
        pcre2_get_error_message(code, words, sizeof(words));
        if (code == UNKNOWN_PROPERTY)
            err_set(e, ERR_INVALID,
                    "error parsing regexp: invalid character class range: `\\%" PRI_STR "`",
                    STR_ARG(property));
        else
            err_set(e, ERR_INVALID, "error parsing regexp: %s", (const char *)words);
        return NULL;
    }
    arena_defer(a, code_release, p->code);
    p->limits = pcre2_match_context_create(NULL);
    if (!p->limits)
        abort();
    pcre2_set_match_limit(p->limits, MATCH_STEPS);
    arena_defer(a, limits_release, p->limits);
    return p;
}

bool pattern_match(const struct crd_pattern *p, str s)
{
    int workspace[DFA_WORKSPACE];
    PCRE2_SPTR text = (PCRE2_SPTR)(s.p ? s.p : "");
    pcre2_match_data *m = pcre2_match_data_create(1, NULL);

    if (!m)
        abort();
    int rc = pcre2_match(p->code, text, s.n, 0, PCRE2_NO_UTF_CHECK, m, p->limits);
    if (rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT)
        rc = pcre2_dfa_match(p->code, text, s.n, 0, PCRE2_NO_UTF_CHECK | PCRE2_DFA_SHORTEST, m,
                             NULL, workspace, DFA_WORKSPACE);
    pcre2_match_data_free(m);
    return rc >= 0;
}
