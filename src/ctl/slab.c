/* Pages of places of one size. A page lies at a multiple of its size, so that its head is found
 * from any of its places, and goes back to the system when the last of them is free. */

#include "ctl/slab.h"

#include "base/mem.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

enum {
    PAGE = 64 * 1024,
    STEP = 16, /* between classes up to FINE bytes ... */
    FINE = 1024,
    COARSE_STEP = 64, /* ... and above, up to LARGEST; what is larger comes from malloc */
    LARGEST = 4096,
};

struct place {
    struct place *next;
};

struct slab_page {
    struct slab_page *next, *prev;
    struct place *free; /* given back */
    size_t n_used;
    size_t n_fresh; /* never given out yet */
    char at[] __attribute__((aligned(16)));
};

static size_t class_of(size_t size)
{
    size = size ? size : 1;
    return size <= FINE ? (size - 1) / STEP : FINE / STEP + (size - FINE - 1) / COARSE_STEP;
}

static size_t size_of(size_t class)
{
    return class < FINE / STEP ? (class + 1) * STEP
                               : FINE + (class - FINE / STEP + 1) * COARSE_STEP;
}

static void list_add(struct slab_page **list, struct slab_page *g)
{
    g->prev = NULL;
    g->next = *list;
    if (g->next)
        g->next->prev = g;
    *list = g;
}

static void list_remove(struct slab_page **list, struct slab_page *g)
{
    *(g->prev ? &g->prev->next : list) = g->next;
    if (g->next)
        g->next->prev = g->prev;
}

static struct slab_page *page_new(size_t class)
{
    char *p =
        mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        abort();
    size_t skip = (PAGE - (uintptr_t)p % PAGE) % PAGE;
    if (skip)
        munmap(p, skip);
    munmap(p + skip + PAGE, PAGE - skip);
    struct slab_page *g = (struct slab_page *)(void *)(p + skip);
    g->n_fresh = (PAGE - sizeof(*g)) / size_of(class);
    return g;
}

#ifdef __SANITIZE_ADDRESS__
enum { USED = 0 }; /* malloc's own are watched better */
#else
enum { USED = 1 };
#endif

void *slab_alloc(struct slab *s, size_t size)
{
    if (size > LARGEST || !USED)
        return mem_room(size ? size : 1);
    size_t class = class_of(size);
    struct slab_page *g = s->pages[class];
    if (!g) {
        g = page_new(class);
        s->bytes += PAGE;
        list_add(&s->pages[class], g);
    }
    void *p = g->free;
    if (g->free)
        g->free = g->free->next;
    else
        p = g->at + --g->n_fresh * size_of(class);
    g->n_used++;
    if (!g->free && !g->n_fresh)
        list_remove(&s->pages[class], g);
    return p;
}

void slab_free(struct slab *s, void *p, size_t size)
{
    if (size > LARGEST || !USED) {
        free(p);
        return;
    }
    if (!p)
        return;
    struct slab_page *g = (struct slab_page *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1));
    size_t class = class_of(size);
    struct place *f = p;
    assert(g->n_used > 0);
    if (!g->free && !g->n_fresh)
        list_add(&s->pages[class], g);
    f->next = g->free;
    g->free = f;
    if (--g->n_used == 0) {
        list_remove(&s->pages[class], g);
        munmap(g, PAGE);
        s->bytes -= PAGE;
    }
}
