/* The order of API versions. */

#include "kube/version.h"

struct version_rank {
    int64_t major;
    int64_t minor;
    int stage; /* 3: stable, 2: beta, 1: alpha, 0: something else */
};

static bool number(str *s, int64_t *out)
{
    size_t n = 0;

    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    if (!n || !str_to_int(str_sub(*s, 0, n), out))
        return false;
    *s = str_sub(*s, n, s->n);
    return true;
}

static struct version_rank rank(str v)
{
    struct version_rank r = { 0 };

    if (!v.n || v.p[0] != 'v')
        return r;
    v = str_sub(v, 1, v.n);
    if (!number(&v, &r.major))
        return (struct version_rank){ 0 };
    if (!v.n)
        r.stage = 3;
    else if (str_starts(v, S("beta")))
        r.stage = 2, v = str_sub(v, 4, v.n);
    else if (str_starts(v, S("alpha")))
        r.stage = 1, v = str_sub(v, 5, v.n);
    if (r.stage && r.stage < 3 && (!number(&v, &r.minor) || v.n))
        r.stage = 0;
    return r;
}

int version_compare(str x, str y)
{
    struct version_rank a = rank(x);
    struct version_rank b = rank(y);

    if (a.stage != b.stage)
        return b.stage - a.stage;
    if (a.stage && a.major != b.major)
        return a.major > b.major ? -1 : 1;
    if (a.stage && a.minor != b.minor)
        return a.minor > b.minor ? -1 : 1;
    return str_cmp(x, y);
}
