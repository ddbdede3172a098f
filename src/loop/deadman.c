/* A timer on CLOCK_BOOTTIME that signals the thread it was made on. Signals that came while a
 * process was stopped are handled before it goes on. */

#include "loop/deadman.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* glibc 2.36 has only the kernel's name for it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static char words[500];
static volatile size_t n_words;
static timer_t timer;
static bool made;

static void on_deadline(int signo)
{
    (void)signo;
    if (write(STDERR_FILENO, words, n_words) < 0)
        _exit(1); /* there is nowhere left to complain to */
    _exit(1);
}

static void make(void)
{
    struct sigaction act = { .sa_handler = on_deadline };
    struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1 };

    ev.sigev_notify_thread_id = gettid();
    if (sigaction(SIGRTMIN + 1, &act, NULL) < 0 || timer_create(CLOCK_BOOTTIME, &ev, &timer) < 0)
        abort(); /* a lease without a deadline would be no lease */
    made = true;
}

void deadman_set(int64_t at_ms, str last_words)
{
    struct itimerspec when = { .it_value = { .tv_sec = at_ms / 1000,
                                             .tv_nsec = at_ms % 1000 * 1000000 } };

    if (!made && at_ms == 0)
        return;
    if (!made)
        make();
    n_words = 0;
    size_t n = last_words.n < sizeof(words) ? last_words.n : sizeof(words);
    if (n)
        memcpy(words, last_words.p, n);
    n_words = n;
    if (timer_settime(timer, TIMER_ABSTIME, &when, NULL) < 0)
        abort();
}
