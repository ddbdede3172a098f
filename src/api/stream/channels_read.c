/* What clients say on a WebSocket of channels, and how a program's end is told. PURE. */

#include "api/stream/channels.h"

static int side(jv v)
{
    int64_t n = jv_int(v, 0);

    return n > 0 && n <= UINT16_MAX ? (int)n : 0;
}

void channel_read(str message, bool v5, struct channel_message *out)
{
    AUTO(arena) struct arena *a = arena_new();
    unsigned first = message.n ? (unsigned char)message.p[0] : CHANNEL_ERROR;
    str rest = str_sub(message, 1, message.n);

    *out = (struct channel_message){ .what = CHANNEL_NOTHING };
    if (first == CHANNEL_STDIN) {
        *out = (struct channel_message){ .what = CHANNEL_INPUT, .bytes = rest };
    } else if (first == CHANNEL_CLOSE && v5 && rest.n == 1 && rest.p[0] == CHANNEL_STDIN) {
        out->what = CHANNEL_INPUT_ENDS;
    } else if (first == CHANNEL_RESIZE) {
        jv size = json_parse(a, arena_str(a, rest), NULL, NULL);
        out->cols = side(jv_at(size, "Width"));
        out->rows = side(jv_at(size, "Height"));
        if (out->cols && out->rows)
            out->what = CHANNEL_SIZE;
    }
}

str channels_choose(str offered)
{
    static const str known[] = { S_INIT("v5.channel.k8s.io"), S_INIT("v4.channel.k8s.io") };

    for (size_t i = 0; i < COUNT(known); i++)
        for (str rest = offered; rest.p;)
            if (str_eq(str_trim(str_cut(&rest, ',')), known[i]))
                return known[i];
    return STR_NONE;
}

static str command_text(struct arena *a, jv argv)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, argv)
        buf_printf(&b, "%s%" PRI_STR, it.i > 1 ? " " : "", STR_ARG(jv_str(it.value, STR_NONE)));
    return arena_str(a, buf_str(&b));
}

static jv failure(struct arena *a, str message, const char *reason, jv cause, int code)
{
    return jobj(a, { "metadata", JV_EMPTY_OBJ }, { "status", jstrz(a, "Failure") },
                { "message", jstr(a, message) }, { "reason", jstr(a, str_of(reason)) },
                { "details", jobj(a, { "causes", jarr(a, cause) }) },
                { "code", code ? jint(a, code) : JV_ABSENT });
}

str channels_status(struct arena *a, jv argv, int code, str why)
{
    if (why.n) {
        str text = arena_printf(a, "error executing command in container: %" PRI_STR, STR_ARG(why));
        return json_text(
            a, failure(a, arena_printf(a, "Internal error occurred: %" PRI_STR, STR_ARG(text)),
                       "InternalError", jobj(a, { "message", jstr(a, text) }), 500));
    }
    if (code == 0)
        return json_text(a,
                         jobj(a, { "metadata", JV_EMPTY_OBJ }, { "status", jstrz(a, "Success") }));
    str text = arena_printf(a,
                            "command terminated with non-zero exit code: error executing command "
                            "[%" PRI_STR "], exit code %d",
                            STR_ARG(command_text(a, argv)), code);
    jv cause = jobj(a, { "reason", jstrz(a, "ExitCode") },
                    { "message", jstr(a, arena_printf(a, "%d", code)) });
    return json_text(a, failure(a, text, "NonZeroExitCode", cause, 0));
}
