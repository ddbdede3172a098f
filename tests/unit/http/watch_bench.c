/* What watches cost: opens N on one HTTP/2 connection to an echo_server, sends events to all of
 * them, and prints what that took of the server's memory and CPU.
 * usage: watch_bench PORT DIR PID N EVENTS BYTES */

#include "client.h"

#include <stdio.h>
#include <stdlib.h>

static size_t want;

static bool has_all(struct h2c *h, void *ctx)
{
    (void)ctx;
    return h2c_total(h) >= want;
}

static double cpu_us(const char *pid)
{
    char path[64];
    double ns = 0;

    snprintf(path, sizeof(path), "cat /proc/%s/task/*/schedstat", pid);
    FILE *p = popen(path, "r");
    for (double run, wait, n; p && fscanf(p, "%lf %lf %lf", &run, &wait, &n) == 3;)
        ns += run;
    pclose(p);
    return ns / 1000;
}

static long rss_kb(const char *pid)
{
    char path[64];
    char line[256];
    long kb = 0;

    snprintf(path, sizeof(path), "/proc/%s/status", pid);
    FILE *p = fopen(path, "r");
    while (p && fgets(line, sizeof(line), p))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    fclose(p);
    return kb;
}

static bool answered(struct h2c *h, void *ctx)
{
    for (int i = 0; i < *(int *)ctx; i++)
        if (h2c_stream(h, 2 * i + 1)->status != 200)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    struct fixture *f = fixture_attach(atoi(argv[1]), argv[2]);
    const char *pid = argv[3];
    int n = atoi(argv[4]);
    int events = atoi(argv[5]);
    size_t bytes = (size_t)atol(argv[6]);
    AUTO(buf) struct buf in = { 0 };
    struct h2c *h = h2c_open(f);
    struct client *c = client_open(f, (struct client_opts){ 0 });

    h2c_run_stream(h, h2c_request(h, "GET", "/", STR_NONE));
    long before = rss_kb(pid);
    for (int i = 0; i < n; i++)
        h2c_request(h, "GET", "/watch", STR_NONE);
    int all = n + 1;
    h2c_run(h, answered, &all);
    long after = rss_kb(pid);
    printf("%d watches: %ld KB to %ld KB, %ld bytes each\n", n, before, after,
           (after - before) * 1024 / n);
    buf_printf(&in, "POST /event HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", bytes);
    memset(buf_room(&in, bytes), 'x', bytes);
    in.n += bytes;
    want = h2c_total(h);
    double cpu = cpu_us(pid);
    for (int i = 0; i < events; i++) {
        want += bytes * (size_t)n;
        client_write(c, buf_str(&in));
        if (!h2c_run(h, has_all, NULL))
            printf("lost an event\n");
    }
    cpu = cpu_us(pid) - cpu;
    printf("%d events of %zu bytes: %.2f us of CPU a delivery; %ld KB\n", events, bytes,
           cpu / (double)n / (double)events, rss_kb(pid));
    client_free(c);
    h2c_free(h);
    free(f);
    return 0;
}
