/* Which pod this is, read once from the environment. */

#include "preload/preload.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The oldest version there is, so that programs with an older C library than this one's can load
 * us. */
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif

static struct pre_self self;
static int state; /* 0: not read, 1: being read, 2: read */

static void copy(char *to, size_t size, const char *name)
{
    const char *from = getenv(name);
    size_t n = from ? strlen(from) : 0;

    if (n < size)
        memcpy(to, from ? from : "", n + 1);
}

/* http://user@localhost:3128/ */
static void add_proxy(const char *url)
{
    static const char *const here[] = { "localhost:", "127.0.0.1:" };
    const char *host = url ? strstr(url, "://") : NULL;

    host = host ? host + 3 : url;
    const char *at = host ? strrchr(host, '@') : NULL;
    host = at ? at + 1 : host;
    for (size_t i = 0; host && i < sizeof(here) / sizeof(here[0]); i++)
        if (strncmp(host, here[i], strlen(here[i])) == 0) {
            long port = strtol(host + strlen(here[i]), NULL, 10);
            if (port > 0 && port < 65536 &&
                self.nproxies < sizeof(self.proxies) / sizeof(self.proxies[0]))
                self.proxies[self.nproxies++] = (uint16_t)port;
        }
}

static void read_self(void)
{
    static const char *const proxies[] = { "http_proxy", "https_proxy", "all_proxy",
                                           "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };
    const char *ip = getenv("MUSTER_POD_IP");

    if (!ip || inet_pton(AF_INET, ip, &self.ip) != 1)
        return;
    copy(self.hostname, sizeof(self.hostname), "MUSTER_POD_HOSTNAME");
    copy(self.fqdn, sizeof(self.fqdn), "MUSTER_POD_FQDN");
    copy(self.hosts, sizeof(self.hosts), "MUSTER_HOSTS");
    copy(self.services, sizeof(self.services), "MUSTER_SERVICES");
    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
        add_proxy(getenv(proxies[i]));
    self.is = true;
}

/* Other libraries may come before our constructor. */
PRE_START
{
    int none = 0;

    if (!__atomic_compare_exchange_n(&state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    read_self();
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

const struct pre_self *pre_self(void)
{
    static const struct pre_self nobody;

    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 0)
        start();
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2 ? &self : &nobody;
}

void *pre_next_if_any(void **cache, const char *name)
{
    static char none; /* looked for in vain */
    void *fn = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

    if (!fn) {
        fn = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, fn ? fn : &none, __ATOMIC_RELEASE);
    }
    return fn == &none ? NULL : fn;
}

void *pre_next(void **cache, const char *name)
{
    void *fn = pre_next_if_any(cache, name);

    if (!fn)
        abort(); /* not a libc */
    return fn;
}
