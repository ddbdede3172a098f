/* The little of HTTP/1.1 that an upgrade needs. Anything may come from outside. */

#include "client/upgrade.h"

#include "base/base64.h"
#include "base/buf.h"

#include <openssl/evp.h>
#include <stdlib.h>

size_t upgrade_head_size(str text)
{
    const char *end = text.n ? memmem(text.p, text.n, "\r\n\r\n", 4) : NULL;

    return end ? (size_t)(end - text.p) + 4 : 0;
}

static bool has_token(str list, const char *token)
{
    while (list.p)
        if (str_eq_nocase(str_trim(str_cut(&list, ',')), str_of(token)))
            return true;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct facts { /* of several headers */
    bool upgrade, connection;
};

static void take_header(str name, str value, struct upgrade *out, struct facts *f)
{
    if (str_eq_nocase(name, S("upgrade")))
        f->upgrade |= has_token(value, "websocket");
    else if (str_eq_nocase(name, S("connection")))
        f->connection |= has_token(value, "upgrade");
    else if (str_eq_nocase(name, S("sec-websocket-accept")))
        out->accept = value;
    else if (str_eq_nocase(name, S("sec-websocket-protocol")))
        out->protocol = value;
    else if (str_eq_nocase(name, S("transfer-encoding")))
        out->chunked |= has_token(value, "chunked");
    else if (str_eq_nocase(name, S("content-length")) &&
             (!str_to_int(value, &out->length) || out->length < 0))
        out->length = -1;
}

int upgrade_read(str head, struct upgrade *out, struct err *e)
{
    struct facts f = { 0 };
    str rest = head, line = str_cut(&rest, '\n');
    str code = str_sub(line, 9, 12);

    *out = (struct upgrade){ .length = -1 };
    if (!str_starts(line, S("HTTP/1.")) || code.n != 3 || !is_digit(code.p[0]) ||
        !is_digit(code.p[1]) || !is_digit(code.p[2]))
        return err_set(e, ERR_INTERNAL, "the server does not answer in HTTP/1.1");
    out->status = (code.p[0] - '0') * 100 + (code.p[1] - '0') * 10 + (code.p[2] - '0');
    while (rest.p) {
        str value = str_trim(str_cut(&rest, '\n'));
        if (!value.n)
            break;
        str name = str_cut(&value, ':');
        take_header(name, value.p ? str_trim(value) : S(""), out, &f);
    }
    out->websocket = f.upgrade && f.connection;
    return 0;
}

bool upgrade_body_is_whole(const struct upgrade *u, str body)
{
    if (u->chunked)
        return str_ends(body, S("0\r\n\r\n"));
    return u->length >= 0 && body.n >= (uint64_t)u->length;
}

static int hex_of(char c)
{
    return is_digit(c)              ? c - '0'
           : (c >= 'a' && c <= 'f') ? c - 'a' + 10
           : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                    : -1;
}

/* One chunk's data, and past it; false: there is none. */
static bool take_chunk(str *rest, str *data)
{
    str line = str_cut(rest, '\n');
    size_t n = 0, i = 0;

    for (; i < line.n && i < 7 && hex_of(line.p[i]) >= 0; i++)
        n = n * 16 + (size_t)hex_of(line.p[i]);
    if (!i || !n || !rest->p)
        return false;
    *data = str_sub(*rest, 0, n);
    str after = str_sub(*rest, n, rest->n);
    str_cut(&after, '\n');
    *rest = after;
    return true;
}

str upgrade_body(struct arena *a, const struct upgrade *u, str body)
{
    AUTO(buf) struct buf b = { 0 };
    str data = STR_NONE;

    if (!u->chunked)
        return arena_str(a, u->length >= 0 ? str_sub(body, 0, (size_t)u->length) : body);
    for (str rest = body; take_chunk(&rest, &data);)
        buf_add(&b, data);
    return arena_str(a, buf_str(&b));
}

str upgrade_accept(struct arena *a, str key)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    str text = arena_cat(a, key, S("258EAFA5-E914-47DA-95CA-C5AB0DC85B11")); /* RFC 6455, 1.3 */

    if (EVP_Digest(text.p, text.n, sum, NULL, EVP_sha1(), NULL) != 1)
        abort();
    return base64_encode(a, (str){ (const char *)sum, 20 });
}
