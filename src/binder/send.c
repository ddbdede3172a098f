/* Writes under way. Their answers find what they are about by its key: it may be gone by then. */

#include "binder/internal.h"

#include "base/mem.h"

struct sent {
    struct sent *next, *prev;
    struct binder *b;
    struct kube_call *call;
    sent_done *done;
    char *key;
};

static void sent_free(struct binder *b, struct sent *s)
{
    if (b->sent == s)
        b->sent = s->next;
    else
        s->prev->next = s->next;
    if (s->next)
        s->next->prev = s->prev;
    b->n_sent--;
    free(s->key);
    free(s);
}

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct sent *s = ctx;
    struct binder *b = s->b;

    s->done(b, str_of(s->key), ans);
    sent_free(b, s);
    binder_work(b);
}

void send_write(struct binder *b, const struct kube_request *r, sent_done *done, str key)
{
    struct sent *s = mem_new(sizeof(*s));

    s->b = b;
    s->done = done;
    s->key = mem_or_abort(strndup(key.p, key.n));
    s->next = b->sent;
    if (b->sent)
        b->sent->prev = s;
    b->sent = s;
    b->n_sent++;
    b->writes++;
    s->call = kube_send(b->api, r, on_answer, s);
}

void send_cancel_all(struct binder *b)
{
    while (b->sent) {
        kube_cancel(b->api, b->sent->call);
        sent_free(b, b->sent);
    }
}
