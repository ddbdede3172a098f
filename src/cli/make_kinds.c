/* The kinds that jobs are made of, and how each one's launcher goes around the command. */

#include "cli/make_internal.h"

#include <inttypes.h>

/* ---- launchers */

static void push(struct jbuild *b, const char *word)
{
    jb_push(b, jstr(b->a, str_of(word)));
}

/* torchrun by the Python that the command names, so that a virtual environment is the right one.
 * How many nodes there are, which one this is and where they meet stand in the PET_ variables that
 * the operator sets. The flags name the process before each line; without them torchrun of PyTorch
 * 1.13 fails with Python 3.11. */
static jv wrap_torchrun(const struct make *m)
{
    struct words w = m->words;
    struct python_words p = words_python(w);
    bool is_known = p.is_script || (p.is_module && p.what + 1 < w.n);
    struct jbuild b = jb_arr(m->a);

    bool is_launcher = str_eqz(words_base(w.at[0]), "torchrun") ||
                       (p.is_module && p.what + 1 < w.n &&
                        str_starts(str_of(w.at[p.what + 1]), S("torch.distributed.")));
    if (!m->o->nproc_per_node || is_launcher) {
        words_push(&b, w, 0, w.n);
        return jb_done(&b);
    }
    if (p.is_python) {
        words_push(&b, w, 0, is_known ? p.what : 1);
        push(&b, "-m");
        push(&b, "torch.distributed.run");
    } else {
        push(&b, "torchrun");
    }
    static const char *const flags[] = { "--redirects", "1", "--tee", "1" };
    for (size_t i = 0; i < COUNT(flags); i++)
        push(&b, flags[i]);
    if (!is_known)
        push(&b, "--no-python");
    words_push(&b, w, is_known ? p.what : 0, w.n);
    return jb_done(&b);
}

static jv wrap_mpirun(const struct make *m)
{
    static const char *const launchers[] = { "mpirun", "mpiexec", "orterun", "horovodrun" };
    str base = words_base(m->words.at[0]);
    struct jbuild b = jb_arr(m->a);
    bool is_launcher = false;

    for (size_t i = 0; i < COUNT(launchers); i++)
        is_launcher = is_launcher || str_eqz(base, launchers[i]);
    if (!is_launcher) {
        push(&b, "mpirun");
        push(&b, "-n");
        jb_push(&b, jstr(m->a, arena_printf(m->a, "%" PRId64, m->ranks)));
    }
    words_push(&b, m->words, 0, m->words.n);
    return jb_done(&b);
}

/* Paddle's launcher reads where they meet from the environment that the operator sets, and finds
 * out who is who. It runs files only; any other command has to call it by itself. Its logs go to a
 * directory of their own: replicas may share the working directory. */
static jv wrap_paddle(const struct make *m)
{
    struct words w = m->words;
    struct python_words p = words_python(w);
    struct jbuild b = jb_arr(m->a);

    if (!p.is_script || !str_ends(str_of(w.at[p.what]), S(".py"))) {
        words_push(&b, w, 0, w.n);
        return jb_done(&b);
    }
    push(&b, "sh");
    push(&b, "-c");
    push(&b, "PADDLE_LOG_DIR=$(mktemp -d) && export PADDLE_LOG_DIR && exec \"$@\"");
    push(&b, "sh");
    words_push(&b, w, 0, p.what);
    push(&b, "-m");
    push(&b, "paddle.distributed.launch");
    if (m->per_node) {
        push(&b, "--nproc_per_node");
        push(&b, m->o->nproc_per_node);
    }
    words_push(&b, w, p.what, w.n);
    return jb_done(&b);
}

static jv per_node_text(const struct make *m)
{
    return m->o->nproc_per_node ? jstr(m->a, str_of(m->o->nproc_per_node)) : JV_ABSENT;
}

static jv per_node_number(const struct make *m)
{
    return jint(m->a, m->per_node ? m->per_node : 1);
}

/* ---- the table of kinds */

/* Open MPI refuses root unless it is told twice, and its ranks wait in a busy loop unless they
 * yield: there may be fewer cores than ranks. Other MPIs do not look at these. */
static const char *const mpi_env[] = { "OMPI_ALLOW_RUN_AS_ROOT",
                                       "1",
                                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                       "1",
                                       "OMPI_MCA_mpi_yield_when_idle",
                                       "1",
                                       NULL };

static const struct make_row rows[] = {
    { .word = "pytorch",
      .kind = "PyTorchJob",
      .roles = { { .name = "Master", .is_added = true }, { .name = "Worker" } },
      .wrap = wrap_torchrun,
      .per_node = per_node_text,
      .per_node_field = "nprocPerNode",
      .per_node_words = true,
      .is_unbuffered = true },
    { .word = "tf",
      .kind = "TFJob",
      .roles = { { .name = "Chief" },
                 { .name = "Master" },
                 { .name = "PS", .no_gpu = true, .serves = true },
                 { .name = "Worker" },
                 { .name = "Evaluator" } },
      .success = "AllWorkers" }, /* not worker 0 alone, whatever the others still do */
    { .word = "jax", .kind = "JAXJob", .roles = { { .name = "Worker" } }, .is_unbuffered = true },
    { .word = "mpi",
      .kind = "MPIJob",
      .roles = { { .name = "Launcher", .is_added = true, .is_extra = true, .has_none = true },
                 { .name = "Worker", .is_called = true, .serves = true } },
      .wrap = wrap_mpirun,
      .per_node = per_node_number,
      .per_node_field = "slotsPerWorker",
      .is_unbuffered = true,
      .env = mpi_env },
    { .word = "xgboost",
      .kind = "XGBoostJob",
      .roles = { { .name = "Master", .is_added = true }, { .name = "Worker" } },
      .is_unbuffered = true },
    { .word = "paddle",
      .kind = "PaddleJob",
      .roles = { { .name = "Master", .serves = true }, { .name = "Worker" } },
      .wrap = wrap_paddle,
      .per_node = per_node_number,
      .is_unbuffered = true },
};
const struct make_row make_pod = { .word = "pod", .kind = "Pod" };

const struct make_row *make_row_find(const char *word)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].word, word) == 0)
            return &rows[i];
    return NULL;
}
