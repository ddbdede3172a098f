/* Lines of the log, read back from a pipe that stands in for stderr. */

#include "loop/log.h"

#include "tap.h"

#include <unistd.h>

static char line[4096];

/* What log_line writes, from "level" on: the time differs from run to run. */
static str logged(enum log_level level, const char *msg, const struct log_kv *kv, size_t n)
{
    int pipe_fd[2];
    int saved = dup(STDERR_FILENO);

    if (pipe(pipe_fd) < 0)
        abort();
    dup2(pipe_fd[1], STDERR_FILENO);
    log_line(level, msg, kv, n);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(pipe_fd[1]);
    ssize_t got = read(pipe_fd[0], line, sizeof(line) - 1);
    close(pipe_fd[0]);
    line[got > 0 ? got : 0] = 0;
    const char *from = strstr(line, "level");
    return str_of(from ? from : line);
}

#define PAIRS(...)                          \
    (const struct log_kv[]){ __VA_ARGS__ }, \
        sizeof((const struct log_kv[]){ __VA_ARGS__ }) / sizeof(struct log_kv)

static void logfmt_quotes_what_needs_it(void)
{
    log_setup(LOG_INFO, LOG_LOGFMT);
    is_str(logged(LOG_INFO, "pod created", PAIRS(KVZ("job", "ns/mnist"), KVI("index", -3))),
           S("level=info msg=\"pod created\" job=ns/mnist index=-3\n"), "plain values stay bare");
    is_str(logged(LOG_ERROR, "x", PAIRS(KVZ("a", "b c"), KVZ("d", ""), KVZ("e", "f=\"g\"\\\n"))),
           S("level=error msg=x a=\"b c\" d=\"\" e=\"f=\\\"g\\\"\\\\\\n\"\n"),
           "spaces, nothing, quotes and line breaks are quoted");
    is_str(logged(LOG_WARN, "x", PAIRS(KV("a", S("\xff\x01")))),
           S("level=warn msg=x a=\"\\ufffd\\u0001\"\n"), "no raw bytes get out");
}

static void json_lines_are_json(void)
{
    struct err e = { 0 };

    log_setup(LOG_INFO, LOG_JSON);
    logged(LOG_INFO, "a \"b\"", PAIRS(KV("k", S("\xc3\xa4\t\x7f\xc3")), KVI("n", 7)));
    AUTO(jdoc) struct jdoc *d = jdoc_parse(str_trim(str_of(line)), NULL, &e);
    ok(d != NULL, "the line parses %s", e.msg);
    if (!d)
        return;
    jv root = jdoc_root(d);
    is_str(jv_str(jv_at(root, "msg"), S("")), S("a \"b\""), "the message is there");
    is_int(jv_int(jv_at(root, "n"), 0), 7, "numbers are numbers");
    is_int((int64_t)jv_str(jv_at(root, "time"), S("")).n, 24, "with a time in milliseconds");
}

static void lower_levels_are_left_out(void)
{
    log_setup(LOG_WARN, LOG_LOGFMT);
    is_str(logged(LOG_INFO, "x", NULL, 0), S(""), "info is below warn");
    is_str(logged(LOG_WARN, "x", NULL, 0), S("level=warn msg=x\n"), "warn is not");
}

int main(void)
{
    logfmt_quotes_what_needs_it();
    json_lines_are_json();
    lower_levels_are_left_out();
    return tap_done();
}
