/* Answers the server gives by itself, and the names of all statuses. */

#include "http/internal.h"

static const struct {
    int status;
    const char *phrase;
} phrases[] = {
    { 100, "Continue" },
    { 101, "Switching Protocols" },
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 206, "Partial Content" },
    { 301, "Moved Permanently" },
    { 302, "Found" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 307, "Temporary Redirect" },
    { 308, "Permanent Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 412, "Precondition Failed" },
    { 413, "Request Entity Too Large" },
    { 414, "Request URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 416, "Requested Range Not Satisfiable" },
    { 417, "Expectation Failed" },
    { 421, "Misdirected Request" },
    { 422, "Unprocessable Entity" },
    { 426, "Upgrade Required" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
    { 507, "Insufficient Storage" },
};

const char *status_phrase(int status)
{
    for (size_t i = 0; i < COUNT(phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Unknown";
}

/* A body that is too large is refused here before any handler sees it, but clients know that
 * answer as a Status object. */
str refuse_body(int status, str *content_type)
{
    if (status == 413) {
        *content_type = S("application/json");
        return S(
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"Request entity too large: limit is 3145728\","
            "\"reason\":\"RequestEntityTooLarge\",\"code\":413}\n");
    }
    *content_type = S("text/plain; charset=utf-8");
    return str_of(status_phrase(status));
}
_Static_assert(LIMIT_BODY_BYTES == 3145728, "the text above names the limit");
