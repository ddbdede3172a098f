/* What was measured, and how it is said. */

#include "kbench.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;

    return (*x > *y) - (*x < *y);
}

void tally_sort(struct tally *t)
{
    if (t->n)
        qsort(t->at, t->n, sizeof(*t->at), by_size);
}

double tally_us(const struct tally *t, double share)
{
    if (!t->n)
        return 0;
    size_t i = (size_t)(share * (double)t->n);
    return (double)t->at[i < t->n ? i : t->n - 1] / 1e3;
}

long procs_rss_kb(const struct procs *p)
{
    long sum = 0;

    for (size_t i = 0; i < p->n; i++) {
        char path[64];
        long pages = 0;
        snprintf(path, sizeof(path), "/proc/%d/statm", p->pid[i]);
        FILE *f = fopen(path, "re");
        if (f && fscanf(f, "%*d %ld", &pages) == 1) /* NOLINT(cert-err34-c): the kernel's file */
            sum += pages * (sysconf(_SC_PAGESIZE) / 1024);
        if (f)
            fclose(f);
    }
    return sum;
}

double procs_cpu_s(const struct procs *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->n; i++) {
        char path[64];
        unsigned long user = 0;
        unsigned long sys = 0;
        snprintf(path, sizeof(path), "/proc/%d/stat", p->pid[i]);
        FILE *f = fopen(path, "re");
        /* NOLINTNEXTLINE(cert-err34-c): the kernel's file */
        if (f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                        &user, &sys) == 2)
            sum += (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
        if (f)
            fclose(f);
    }
    return sum;
}

double own_cpu_s(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void line_start(struct line *l, const char *bench)
{
    buf_printf(&l->json, "{\"bench\":\"%s\"", bench);
    buf_printf(&l->human, "%s:", bench);
}

void line_int(struct line *l, const char *key, long value)
{
    buf_printf(&l->json, ",\"%s\":%ld", key, value);
    buf_printf(&l->human, " %s %ld", key, value);
}

void line_num(struct line *l, const char *key, double value)
{
    buf_printf(&l->json, ",\"%s\":%.3f", key, value);
    buf_printf(&l->human, " %s %.*f", key, value >= 100 ? 0 : 2, value);
}

void line_end(struct line *l)
{
    printf("%.*s}\n", (int)l->json.n, l->json.p);
    fflush(stdout);
    fprintf(stderr, "%.*s\n", (int)l->human.n, l->human.p);
    buf_done(&l->json);
    buf_done(&l->human);
}
