/* The environment of a container, made of its own and the sandbox's. */

#include "sandbox/env.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/muster env-XXXXXX";
static char lib[64];

static str all(struct arena *a, struct warden_list env)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < env.n; i++)
        buf_printf(&b, "%s|", env.at[i]);
    return arena_str(a, buf_str(&b));
}

static struct warden_list list(const char **at, size_t n)
{
    return (struct warden_list){ .at = at, .n = n };
}
#define LIST(...) \
    list((const char *[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))

static void the_containers_own_comes_first(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_sandbox s = { .uid = S("u"), .env = LIST("A=sandbox", "B=sandbox") };
    struct warden_start st = { .name = S("c"), .uid = -1, .env = LIST("A=own", "PATH=/x") };

    is_str(all(a, warden_env(a, &s, &st, "/pods/u")), S("A=own|PATH=/x|B=sandbox|MUSTER_POD=u|"),
           "what the container says counts");
    s.shared = true;
    st.env = LIST("TMPDIR=/t");
    is_str(all(a, warden_env(a, &s, &st, "/pods/u")),
           S("TMPDIR=/t|A=sandbox|B=sandbox|PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
             "/sbin:/bin|MUSTER_POD=u|"),
           "what it does not say is added");
    st.env = LIST("PATH=/x");
    ok(str_ends(all(a, warden_env(a, &s, &st, "/pods/u")), S("|TMPDIR=/pods/u/tmp/c|")),
       "a place for its files, too");
}

static void the_library_comes_before_others(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_sandbox s = { .uid = S("u"), .preload = "/proc/self/exe" };
    struct warden_start st = { .name = S("c"),
                               .uid = -1,
                               .env = LIST("PATH=/x", "LD_PRELOAD=l.so") };

    is_str(all(a, warden_env(a, &s, &st, "/d")),
           S("PATH=/x|LD_PRELOAD=/proc/self/exe:l.so|MUSTER_POD=u|"),
           "the library comes before the container's");
    s.preload = lib;
    is_str(all(a, warden_env(a, &s, &st, "/d")),
           arena_printf(a, "PATH=/x|LD_PRELOAD=lib.so:l.so|LD_LIBRARY_PATH=%s|MUSTER_POD=u|", dir),
           "by its name alone where its path has a space");
    st.env = LIST("PATH=/x", "LD_LIBRARY_PATH=/own");
    is_str(all(a, warden_env(a, &s, &st, "/d")),
           arena_printf(a, "PATH=/x|LD_PRELOAD=lib.so|LD_LIBRARY_PATH=%s:/own|MUSTER_POD=u|", dir),
           "before the container's own places");
    st.env = LIST("PATH=/x", "LD_LIBRARY_PATH=");
    is_str(all(a, warden_env(a, &s, &st, "/d")),
           arena_printf(a, "PATH=/x|LD_PRELOAD=lib.so|LD_LIBRARY_PATH=%s|MUSTER_POD=u|", dir),
           "which may be none");
}

static void a_library_that_cannot_be_read_is_left_out(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_sandbox s = { .uid = S("u"), .preload = "/nonexistent/lib.so" };
    struct warden_start st = { .name = S("c"), .uid = -1, .env = LIST("PATH=/x") };

    is_str(all(a, warden_env(a, &s, &st, "/d")), S("PATH=/x|MUSTER_POD=u|"),
           "one that is not there is left out");
    if (geteuid() != 0)
        return;
    s.preload = lib;
    st.uid = 12345;
    is_str(all(a, warden_env(a, &s, &st, "/d")), S("PATH=/x|MUSTER_POD=u|"),
           "as is one for root only");
    chmod(dir, 0755);
    ok(str_contains(all(a, warden_env(a, &s, &st, "/d")), S("lib.so")), "but not one for all");
    ok(access(lib, W_OK) == 0, "and we are who we were");
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(lib, sizeof(lib), "%s/lib.so", dir);
    fclose(fopen(lib, "we"));
    chmod(lib, 0644);
    the_containers_own_comes_first();
    the_library_comes_before_others();
    a_library_that_cannot_be_read_is_left_out();
    unlink(lib);
    rmdir(dir);
    return tap_done();
}
