#include "binder/phase.h"

static const char *const texts[] = {
    [PHASE_NONE] = "",
    [PHASE_PENDING] = "Pending",
    [PHASE_INQUEUE] = "Inqueue",
    [PHASE_SCHEDULING] = "Scheduling",
    [PHASE_RUNNING] = "Running",
    [PHASE_UNKNOWN] = "Unknown",
    [PHASE_COMPLETED] = "Completed",
    [PHASE_FINISHED] = "Finished",
    [PHASE_FAILED] = "Failed",
};

str phase_text(enum group_phase phase)
{
    return str_of(texts[phase]);
}

enum group_phase phase_read(str text)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (str_eqz(text, texts[i]))
            return (enum group_phase)i;
    return PHASE_NONE;
}

bool phase_is_over(enum group_phase phase)
{
    return phase == PHASE_COMPLETED || phase == PHASE_FINISHED || phase == PHASE_FAILED;
}

/* Volcano's groups say so. Those of scheduler-plugins have no phase for it: they are let in when
 * their pods start. Those of Kubernetes ask for nothing that could be kept before. */
bool phase_is_let_in(enum group_form form, enum group_phase phase)
{
    if (form == GROUP_VOLCANO)
        return phase != PHASE_NONE && phase != PHASE_PENDING;
    return form == GROUP_KUBE || phase == PHASE_RUNNING || phase_is_over(phase);
}

int64_t group_pods_total(const struct group_pods *p)
{
    return p->waiting + p->weightless + p->binding + p->bound + p->running + p->succeeded +
           p->failed + p->going;
}

static enum group_phase phase_of_volcano(const struct group_seen *s)
{
    const struct group_pods *p = &s->pods;
    int64_t ended = p->succeeded + p->failed, scheduled = p->bound + p->running + ended;
    int64_t ready = p->weightless + p->binding + p->bound + p->running + p->succeeded;
    int64_t total = group_pods_total(p);

    if (s->was == PHASE_COMPLETED && total == ended)
        return PHASE_COMPLETED; /* its pods may be cleaned up */
    if (p->running && ready < s->min)
        return PHASE_UNKNOWN;
    if (scheduled && scheduled >= s->min)
        return scheduled == ended ? PHASE_COMPLETED : PHASE_RUNNING;
    if (s->was == PHASE_INQUEUE)
        return PHASE_INQUEUE;
    /* Volcano shows Pending for a cycle, while a replacement is being bound */
    if (p->binding && ready >= s->min && (s->was == PHASE_RUNNING || s->was == PHASE_UNKNOWN))
        return s->was;
    return PHASE_PENDING;
}

static enum group_phase phase_of_plugins(const struct group_seen *s)
{
    const struct group_pods *p = &s->pods;
    int64_t active = p->running + p->succeeded, total = group_pods_total(p) - p->going;

    if (s->was == PHASE_FINISHED || s->was == PHASE_FAILED)
        return s->was;
    if (total < s->min || !total)
        return PHASE_PENDING;
    if (p->succeeded >= s->min && p->succeeded)
        return PHASE_FINISHED;
    if (p->failed && p->failed + active >= s->min)
        return PHASE_FAILED;
    return active && active >= s->min ? PHASE_RUNNING : PHASE_SCHEDULING;
}

/* Never written: how far it is with its pods. */
static enum group_phase phase_of_kube(const struct group_seen *s)
{
    const struct group_pods *p = &s->pods;
    int64_t ended = p->succeeded + p->failed, seated = p->bound + p->running + ended;
    int64_t total = group_pods_total(p) - p->going;

    if (s->was == PHASE_FINISHED && total == ended)
        return PHASE_FINISHED; /* its pods may be cleaned up */
    if (!total || total < s->min)
        return PHASE_PENDING;
    if (!seated || seated < s->min)
        return PHASE_SCHEDULING;
    return ended == total ? PHASE_FINISHED : PHASE_RUNNING;
}

enum group_phase phase_of(const struct group_seen *s)
{
    return s->form == GROUP_KUBE      ? phase_of_kube(s)
           : s->form == GROUP_PLUGINS ? phase_of_plugins(s)
                                      : phase_of_volcano(s);
}
