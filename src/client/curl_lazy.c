/* libcurl, loaded when the first client is made: it brings thirty libraries, which would cost
 * `muster up`, who needs none of them, 4 MB and 3 ms at each start. The functions here have its
 * names and pass on what they get. */

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>

/* What follows an option is a long, a curl_off_t or a pointer: all go on as the same word. */
_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *),
               "options are words");

#define CURL_TABLE(X)      \
    X(easy_cleanup)        \
    X(easy_getinfo)        \
    X(easy_init)           \
    X(easy_perform)        \
    X(easy_recv)           \
    X(easy_send)           \
    X(easy_setopt)         \
    X(easy_strerror)       \
    X(global_cleanup)      \
    X(global_init)         \
    X(multi_add_handle)    \
    X(multi_assign)        \
    X(multi_cleanup)       \
    X(multi_info_read)     \
    X(multi_init)          \
    X(multi_remove_handle) \
    X(multi_setopt)        \
    X(multi_socket_action) \
    X(slist_append)        \
    X(slist_free_all)      \
    X(url)                 \
    X(url_cleanup)         \
    X(url_set)

static struct {
#define X(name) __typeof__(curl_##name) *name;
    CURL_TABLE(X)
#undef X
} lib;

static bool load(void)
{
    static const char *const names[] = { "libcurl.so.4", "libcurl.so" };
    void *so = NULL;

    for (size_t i = 0; !so && i < sizeof(names) / sizeof(names[0]); i++)
        so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return false;
#define X(name)                                     \
    *(void **)&lib.name = dlsym(so, "curl_" #name); \
    if (!lib.name)                                  \
        return false;
    CURL_TABLE(X)
#undef X
    return true;
}

CURLcode curl_global_init(long flags)
{
    static bool is_here; /* all of it */

    is_here = is_here || load();
    return is_here ? lib.global_init(flags) : CURLE_FAILED_INIT;
}

void curl_global_cleanup(void)
{
    lib.global_cleanup();
}

CURL *curl_easy_init(void)
{
    return lib.easy_init();
}

CURLcode curl_easy_perform(CURL *easy)
{
    return lib.easy_perform(easy);
}

CURLcode curl_easy_recv(CURL *easy, void *to, size_t room, size_t *n)
{
    return lib.easy_recv(easy, to, room, n);
}

CURLcode curl_easy_send(CURL *easy, const void *from, size_t size, size_t *n)
{
    return lib.easy_send(easy, from, size, n);
}

void curl_easy_cleanup(CURL *easy)
{
    lib.easy_cleanup(easy);
}

CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    va_list ap;

    va_start(ap, option);
    void *word = va_arg(ap, void *);
    va_end(ap);
    return lib.easy_setopt(easy, option, word);
}

CURLcode curl_easy_getinfo(CURL *easy, CURLINFO info, ...)
{
    va_list ap;

    va_start(ap, info);
    void *to = va_arg(ap, void *);
    va_end(ap);
    return lib.easy_getinfo(easy, info, to);
}

const char *curl_easy_strerror(CURLcode code)
{
    return lib.easy_strerror(code);
}

CURLM *curl_multi_init(void)
{
    return lib.multi_init();
}

CURLMcode curl_multi_cleanup(CURLM *multi)
{
    return lib.multi_cleanup(multi);
}

CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...)
{
    va_list ap;

    va_start(ap, option);
    void *word = va_arg(ap, void *);
    va_end(ap);
    return lib.multi_setopt(multi, option, word);
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy)
{
    return lib.multi_add_handle(multi, easy);
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy)
{
    return lib.multi_remove_handle(multi, easy);
}

CURLMcode curl_multi_assign(CURLM *multi, curl_socket_t fd, void *ctx)
{
    return lib.multi_assign(multi, fd, ctx);
}

CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t fd, int what, int *running)
{
    return lib.multi_socket_action(multi, fd, what, running);
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *left)
{
    return lib.multi_info_read(multi, left);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text)
{
    return lib.slist_append(list, text);
}

void curl_slist_free_all(struct curl_slist *list)
{
    lib.slist_free_all(list);
}

CURLU *curl_url(void)
{
    return lib.url();
}

void curl_url_cleanup(CURLU *u)
{
    lib.url_cleanup(u);
}

CURLUcode curl_url_set(CURLU *u, CURLUPart part, const char *text, unsigned flags)
{
    return lib.url_set(u, part, text, flags);
}
