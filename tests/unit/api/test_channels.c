/* What goes over the channels of pods/exec, in kubelet's words. */

#include "api/stream/channels.h"
#include "tap.h"

static void ends_are_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv argv = jarr(a, jstrz(a, "sh"), jstrz(a, "-c"), jstrz(a, "exit 3"));

    is_str(channels_status(a, argv, 0, STR_NONE), S("{\"metadata\":{},\"status\":\"Success\"}"),
           "success");
    is_str(channels_status(a, argv, 3, STR_NONE),
           S("{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with "
             "non-zero exit code: error executing command [sh -c exit 3], exit code 3\","
             "\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\","
             "\"message\":\"3\"}]}}"),
           "an exit code");
    is_str(channels_status(a, argv, 126, S("no such thing")),
           S("{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Internal error occurred: error "
             "executing command in container: no such thing\",\"reason\":\"InternalError\","
             "\"details\":{\"causes\":[{\"message\":\"error executing command in container: no "
             "such thing\"}]},\"code\":500}"),
           "a program that did not run");
}

static void messages_are_read(void)
{
    struct channel_message m;

    channel_read(S("\0abc"), false, &m);
    ok(m.what == CHANNEL_INPUT && str_eq(m.bytes, S("abc")), "input");
    channel_read(S("\0"), false, &m);
    ok(m.what == CHANNEL_INPUT && m.bytes.n == 0, "none");
    channel_read(S("\377\0"), true, &m);
    ok(m.what == CHANNEL_INPUT_ENDS, "its end");
    channel_read(S("\377\0"), false, &m);
    ok(m.what == CHANNEL_NOTHING, "which v4 does not have");
    channel_read(S("\4{\"Width\":80,\"Height\":24}"), false, &m);
    ok(m.what == CHANNEL_SIZE && m.cols == 80 && m.rows == 24, "a size");
    channel_read(S("\4{\"Width\":80}"), false, &m);
    ok(m.what == CHANNEL_NOTHING, "half a size");
    channel_read(S("\1abc"), false, &m);
    ok(m.what == CHANNEL_NOTHING, "what only a server says");
    channel_read(S(""), false, &m);
    ok(m.what == CHANNEL_NOTHING, "nothing");
}

static void protocols_are_chosen(void)
{
    is_str(channels_choose(S("v4.channel.k8s.io, v5.channel.k8s.io")), S("v5.channel.k8s.io"),
           "the newest");
    is_str(channels_choose(S("v4.channel.k8s.io")), S("v4.channel.k8s.io"), "or the one before");
    is_int((int64_t)channels_choose(S("base64.channel.k8s.io")).n, 0, "no other");
    is_int((int64_t)channels_choose(STR_NONE).n, 0, "nor none");
}

int main(void)
{
    ends_are_told();
    messages_are_read();
    protocols_are_chosen();
    return tap_done();
}
