/* Trees leave their place at once and are removed beside the loop (L1), if not by this process then
 * by the next (N2). */

#include "loop/watchdog.h"
#include "sys/trash.h"
#include "sys/tree.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 20000, TURNS = 100000 };

static char top[] = "/tmp/trash-XXXXXX";
static struct loop *l;

static const char *at(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", top, name).p;
}

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void fill(const char *dir, int n)
{
    mkdir(dir, 0700);
    for (int i = 0; i < n; i++) {
        AUTO(arena) struct arena *a = arena_new();
        close(open(arena_printf(a, "%s/%d", dir, i).p, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
}

static void on_tick(void *arg)
{
    (void)arg;
}

static bool goes(const char *path)
{
    struct loop_timer *tick = loop_timer_start(l, 1, 1, on_tick, NULL);

    for (int i = 0; i < TURNS && there(path); i++)
        loop_turn(l);
    loop_timer_stop(tick);
    return !there(path);
}

static void a_tree_goes_beside_the_loop(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct tree_trash *t = tree_trash_new(l, at(a, ".trash"));

    fill(at(a, "pod"), FILES);
    tree_trash_put(t, at(a, "pod"));
    ok(!there(at(a, "pod")) && there(at(a, ".trash")), "a tree leaves its place at once");
    fill(at(a, "pod"), 1);
    tree_trash_put(t, at(a, "pod"));
    ok(goes(at(a, ".trash")), "nothing is left of it, nor of another that came meanwhile");
    tree_trash_put(t, at(a, "none"));
    ok(goes(at(a, ".trash")), "what was not there leaves nothing");
    tree_trash_free(t);
}

static void what_came_last_goes_before_the_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct tree_trash *t = tree_trash_new(l, at(a, ".trash"));

    fill(at(a, "pod"), FILES);
    tree_trash_put(t, at(a, "pod"));
    fill(at(a, "last"), FILES);
    while (there(at(a, ".trash"))) /* until the thread has left it behind, or is about to */
        usleep(100);
    tree_trash_put(t, at(a, "last"));
    tree_trash_free(t);
    ok(goes(at(a, ".trash")), "N1: what was put there just before the end goes, too");
}

static void leftovers_go_at_the_next_start(void)
{
    AUTO(arena) struct arena *a = arena_new();

    mkdir(at(a, ".trash"), 0700);
    fill(at(a, ".trash/old"), 3);
    struct tree_trash *t = tree_trash_new(l, at(a, ".trash"));
    ok(goes(at(a, ".trash")), "N2: what another process left goes");
    tree_trash_free(t);
}

static void what_cannot_be_moved_goes_where_it_is(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct tree_trash *t = tree_trash_new(l, "/proc/none/.trash");

    fill(at(a, "pod"), 1);
    tree_trash_put(t, at(a, "pod"));
    ok(goes(at(a, "pod")), "without a place for the trash a tree is removed where it is");
    tree_trash_free(t);
}

int main(void)
{
    if (!mkdtemp(top))
        return 1;
    l = loop_new();
    a_tree_goes_beside_the_loop();
    what_came_last_goes_before_the_end();
    leftovers_go_at_the_next_start();
    what_cannot_be_moved_goes_where_it_is();
    is_int(loop_slow().turns, 0, "L1: no turn was slow");
    loop_free(l);
    tree_remove(AT_FDCWD, top, NULL);
    return tap_done();
}
