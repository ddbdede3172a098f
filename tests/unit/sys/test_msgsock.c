#include "sys/msgsock.h"

#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGES = 2000, LONG = 3000 };

struct side {
    char letter;
    int wrong;
    int seen;
};

/* Sends messages of one letter to itself, and counts those that come back otherwise. */
static void *speak(void *arg)
{
    struct side *s = arg;
    struct msgsock from = { .fd = -1 }, to = { .fd = -1 };
    char text[LONG];
    int pair[2];
    str got;

    memset(text, s->letter, sizeof(text));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        return NULL;
    msgsock_init(&from, pair[0]);
    msgsock_init(&to, pair[1]);
    for (int i = 0; i < MESSAGES; i++) {
        size_t n = (size_t)(i % LONG) + 1;
        s->wrong += msgsock_say(&from, (str){ text, n }, NULL, 0) < 0;
        s->wrong += msgsock_fill(&to, NULL) < 0;
        while (msgsock_next(&to, &got)) {
            s->seen++;
            s->wrong += got.n != n || memcmp(got.p, text, got.n) != 0;
        }
        msgsock_used(&to, NULL);
    }
    msgsock_done(&from);
    msgsock_done(&to);
    return NULL;
}

static void threads_do_not_mix_their_messages(void)
{
    struct side sides[2] = { { .letter = 'a' }, { .letter = 'b' } };
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, speak, &sides[i]) != 0)
            abort();
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        is_int(sides[i].seen, MESSAGES, "all came");
        is_int(sides[i].wrong, 0, "as they were sent");
    }
}

int main(void)
{
    threads_do_not_mix_their_messages();
    return tap_done();
}
