/* See outlet.h. */

#include "cli/outlet.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { MOST = 32 * 1024 * 1024, FDS = 3 };

struct piece {
    struct piece *next;
    int fd;
    size_t n;
    char bytes[];
};

struct outlet {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    pthread_cond_t room;
    struct piece *first;
    struct piece *last;
    size_t waiting; /* bytes */
    bool ending;
    bool broken[FDS];
};

/* False: nobody will ever read it. */
static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t did = write(fd, p, n);
        if (did < 0 && errno == EAGAIN) { /* somebody we share it with made it so */
            struct pollfd wait = { .fd = fd, .events = POLLOUT };
            poll(&wait, 1, -1);
            continue;
        }
        if (did < 0 && errno != EINTR)
            return false;
        if (did > 0) {
            p += did;
            n -= (size_t)did;
        }
    }
    return true;
}

static void *work(void *arg)
{
    struct outlet *o = arg;

    pthread_mutex_lock(&o->lock);
    for (;;) {
        struct piece *p = o->first;
        if (!p && o->ending)
            break;
        if (!p) {
            pthread_cond_wait(&o->news, &o->lock);
            continue;
        }
        o->first = p->next;
        if (!o->first)
            o->last = NULL;
        bool skip = o->broken[p->fd];
        pthread_mutex_unlock(&o->lock);
        bool good = skip || write_all(p->fd, p->bytes, p->n);
        pthread_mutex_lock(&o->lock);
        o->broken[p->fd] = o->broken[p->fd] || !good;
        o->waiting -= p->n;
        pthread_cond_signal(&o->room);
        free(p);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

struct outlet *outlet_new(void)
{
    struct outlet *o = mem_new(sizeof(*o));
    sigset_t all;
    sigset_t before;

    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->news, NULL);
    pthread_cond_init(&o->room, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
    if (pthread_create(&o->thread, NULL, work, o) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return o;
}

void outlet_put(struct outlet *o, int fd, str bytes)
{
    if (!bytes.n || fd < 0 || fd >= FDS)
        return;
    struct piece *p = mem_room(sizeof(*p) + bytes.n);
    *p = (struct piece){ .fd = fd, .n = bytes.n };
    memcpy(p->bytes, bytes.p, bytes.n);
    pthread_mutex_lock(&o->lock);
    while (o->waiting > MOST)
        pthread_cond_wait(&o->room, &o->lock);
    if (o->last)
        o->last->next = p;
    else
        o->first = p;
    o->last = p;
    o->waiting += bytes.n;
    pthread_cond_signal(&o->news);
    pthread_mutex_unlock(&o->lock);
}

bool outlet_is_broken(struct outlet *o, int fd)
{
    pthread_mutex_lock(&o->lock);
    bool broken = o->broken[fd];
    pthread_mutex_unlock(&o->lock);
    return broken;
}

void outlet_free(struct outlet *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    o->ending = true;
    pthread_cond_signal(&o->news);
    pthread_mutex_unlock(&o->lock);
    pthread_join(o->thread, NULL);
    pthread_cond_destroy(&o->news);
    pthread_cond_destroy(&o->room);
    pthread_mutex_destroy(&o->lock);
    free(o);
}
