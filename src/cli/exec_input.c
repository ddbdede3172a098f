/* Standard input, whatever it is: pipes, terminals and sockets are watched, files read as there is
 * room for what is in them. */

#include "cli/exec.h"

#include "base/mem.h"
#include "loop/watchdog.h"

#include <errno.h>
#include <unistd.h>
#include <uv.h>

enum { PIECE = 32 * 1024 };

struct exec_input {
    struct loop *loop;
    void (*on_bytes)(void *ctx, str bytes);
    void *ctx;
    uv_poll_t poll;
    bool is_watched; /* else it is a file */
    struct loop_timer *next;
    bool paused, ended, freed;
};

static void read_one(struct exec_input *i)
{
    char piece[PIECE];
    ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    i->ended = n <= 0;
    if (i->ended && i->is_watched)
        uv_poll_stop(&i->poll);
    i->on_bytes(i->ctx, (str){ piece, n > 0 ? (size_t)n : 0 });
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    LOOP_TURN();
    (void)status;
    (void)events;
    read_one(poll->data);
}

static void on_next(void *arg)
{
    struct exec_input *i = arg;

    loop_timer_stop(TAKE(i->next));
    read_one(i);
    if (!i->freed)
        exec_input_pause(i, i->paused);
}

void exec_input_pause(struct exec_input *i, bool paused)
{
    i->paused = paused;
    if (i->ended)
        return;
    if (i->is_watched && paused)
        uv_poll_stop(&i->poll);
    else if (i->is_watched)
        uv_poll_start(&i->poll, UV_READABLE, on_ready);
    else if (!paused && !i->next)
        i->next = loop_timer_start(i->loop, 0, 0, on_next, i);
}

struct exec_input *exec_input_start(struct loop *l, void (*on_bytes)(void *ctx, str bytes),
                                    void *ctx)
{
    struct exec_input *i = mem_new(sizeof(*i));

    *i = (struct exec_input){ .loop = l, .on_bytes = on_bytes, .ctx = ctx };
    i->is_watched = uv_poll_init(loop_uv(l), &i->poll, STDIN_FILENO) == 0;
    i->poll.data = i;
    exec_input_pause(i, false);
    return i;
}

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

void exec_input_free(struct exec_input *i)
{
    if (!i || i->freed)
        return;
    i->freed = i->ended = true;
    loop_timer_stop(TAKE(i->next));
    if (i->is_watched)
        uv_close((uv_handle_t *)&i->poll, on_closed);
    else
        free(i);
}
