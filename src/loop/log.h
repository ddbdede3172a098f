/* One line per fact, to stderr: logfmt or JSON. Constant messages, facts as pairs. Any thread. */
#pragma once

#include "base/str.h"

struct log_kv {
    const char *key;
    str text;
    int64_t number;
    bool is_number;
};

#define KV(k, v)  ((struct log_kv){ .key = (k), .text = (v) })       /* str */
#define KVZ(k, v) ((struct log_kv){ .key = (k), .text = str_of(v) }) /* C string */
#define KVI(k, v) ((struct log_kv){ .key = (k), .number = (v), .is_number = true })

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_LOGFMT, LOG_JSON };

void log_setup(enum log_level least, enum log_format format);
void log_to(int fd); /* instead of stderr; stays open as long as anything is logged */
void log_line(enum log_level level, const char *msg, const struct log_kv *kv, size_t n);

#define LOG_(level, msg, ...)                                                     \
    log_line((level), (msg), (const struct log_kv[]){ { 0 }, ##__VA_ARGS__ } + 1, \
             sizeof((const struct log_kv[]){ { 0 }, ##__VA_ARGS__ }) / sizeof(struct log_kv) - 1)
#define log_debug(msg, ...) LOG_(LOG_DEBUG, msg, ##__VA_ARGS__)
#define log_info(msg, ...)  LOG_(LOG_INFO, msg, ##__VA_ARGS__)
#define log_warn(msg, ...)  LOG_(LOG_WARN, msg, ##__VA_ARGS__)
#define log_error(msg, ...) LOG_(LOG_ERROR, msg, ##__VA_ARGS__)
