/* See waiting.h. */

#include "kube/waiting.h"

#include "kube/meta.h"

#include <string.h>

#define MARK " In short: "

str waiting_message(struct arena *a, str told, str sentence)
{
    return sentence.n
               ? arena_printf(a, "%" PRI_STR MARK "%" PRI_STR ".", STR_ARG(told), STR_ARG(sentence))
               : told;
}

/* Where the part begins; -1: nowhere. */
static ptrdiff_t find(str s, str part)
{
    const char *at = s.n ? memmem(s.p, s.n, part.p, part.n) : NULL;

    return at ? at - s.p : -1;
}

str waiting_sentence(str message)
{
    ptrdiff_t at = find(message, S(MARK));

    if (at < 0)
        return STR_NONE;
    str s = str_sub(message, (size_t)at + sizeof(MARK) - 1, message.n);
    return str_ends(s, S(".")) ? str_sub(s, 0, s.n - 1) : s;
}

str waiting_reason(jv pod)
{
    jv c = meta_condition(pod, S("PodScheduled"));
    str message = jv_str(jv_get(c, S("message")), STR_NONE), s = waiting_sentence(message);
    ptrdiff_t end;

    if (!str_eqz(jv_str(jv_get(c, S("status")), STR_NONE), "False"))
        return STR_NONE;
    if (s.n)
        return s;
    end = find(message, S(". "));
    return end < 0 ? message : str_sub(message, 0, (size_t)end + 1);
}
