/* Answers to a request for a WebSocket, as text. */

#include "client/upgrade.h"

#include "tap.h"

static void reads(const char *text, int status, bool websocket, const char *protocol,
                  const char *body)
{
    AUTO(arena) struct arena *a = arena_new();
    size_t n = upgrade_head_size(str_of(text));
    str rest = str_sub(str_of(text), n, strlen(text));
    struct upgrade u = { 0 };

    ok(n && upgrade_read(str_sub(str_of(text), 0, n), &u, NULL) == 0, "an answer of %d reads",
       status);
    is_int(u.status, status, "the status");
    is_int(u.websocket, websocket, "whether it is one");
    is_str(u.protocol, str_of(protocol), "the protocol");
    is_str(upgrade_body(a, &u, rest), str_of(body), "the body");
}

static void bodies_are_known_to_be_whole(void)
{
    struct upgrade u = { .length = 3 };

    ok(!upgrade_body_is_whole(&u, S("ab")) && upgrade_body_is_whole(&u, S("abc")), "by length");
    u = (struct upgrade){ .length = -1, .chunked = true };
    ok(!upgrade_body_is_whole(&u, S("1\r\na\r\n")), "not by a chunk");
    ok(upgrade_body_is_whole(&u, S("1\r\na\r\n0\r\n\r\n")), "by the last chunk");
    u = (struct upgrade){ .length = -1 };
    ok(!upgrade_body_is_whole(&u, S("abc")), "else only by the end");
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct upgrade u;

    reads("HTTP/1.1 101 S\r\nupgrade: WebSocket\r\nConnection: a, UPGRADE\r\n"
          "Sec-WebSocket-Protocol: v5.channel.k8s.io \r\n\r\n",
          101, true, "v5.channel.k8s.io", "");
    reads("HTTP/1.1 101 S\r\nUpgrade: spdy\r\nConnection: upgrade\r\n\r\n", 101, false, "", "");
    reads("HTTP/1.1 403 X\r\nContent-Length: 3\r\n\r\nabcd", 403, false, "", "abc");
    reads("HTTP/1.0 500 X\r\n\r\nall of it", 500, false, "", "all of it");
    reads("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\nA\r\n0123456789\r\n0"
          "\r\n\r\n",
          500, false, "", "abc0123456789");
    reads("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\nabc", 500, false, "",
          "abc");
    is_int((int64_t)upgrade_head_size(S("HTTP/1.1 101 S\r\n")), 0, "a head that is not whole");
    is_int(upgrade_read(S("SSH-2.0-x\r\n\r\n"), &u, NULL), -1, "no HTTP");
    is_int(upgrade_read(S("HTTP/1.1 1\r\n\r\n"), &u, NULL), -1, "no status");
    is_str(upgrade_accept(a, S("dGhlIHNhbXBsZSBub25jZQ==")), S("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
           "the answer to a key, as in RFC 6455");
    bodies_are_known_to_be_whole();
    return tap_done();
}
