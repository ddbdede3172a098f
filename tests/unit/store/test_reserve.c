/* Room is kept, let go and taken again; what is there already costs nothing. */

#include "help.h"
#include "store/reserve.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char dir[] = "reserve-test-XXXXXX";

static int64_t blocks_of(const char *path)
{
    struct stat st = { 0 };

    return stat(path, &st) == 0 ? (int64_t)st.st_blocks * 512 : -1;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit r = { 0 };

    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &r);
}

static void it_is_taken_and_let_go(void)
{
    struct reserve r = { 0 };
    char db[64];

    snprintf(db, sizeof(db), "%s/muster.db", dir);
    fclose(fopen(db, "we"));
    reserve_open(&r, db);
    if (!r.bytes) {
        printf("ok %d # SKIP this file system cannot keep room\n", ++tap_n);
        reserve_done(&r);
        return;
    }
    ok(r.is_held && blocks_of(r.path) >= r.bytes, "at the start it is really there");
    reserve_release(&r);
    ok(!r.is_held && blocks_of(r.path) == 0, "let go, it is free");
    limit_files(4096);
    ok(!reserve_take(&r) && blocks_of(r.path) == 0, "without room nothing of it is taken");
    limit_files(RLIM_INFINITY);
    ok(reserve_take(&r) && blocks_of(r.path) >= r.bytes, "with room it is");
    reserve_done(&r);
    reserve_open(&r, db);
    ok(r.is_held, "and is still there at the next start");
    reserve_done(&r);
}

static void in_memory_there_is_none(void)
{
    struct reserve r = { 0 };

    reserve_open(&r, ":memory:");
    ok(!r.bytes && reserve_take(&r), "none is kept, and none is missed");
    ok(access("reserve", F_OK) < 0, "no file is made");
    reserve_done(&r);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    log_setup(LOG_ERROR + 1, LOG_LOGFMT);
    if (!mkdtemp(dir))
        return 1;
    it_is_taken_and_let_go();
    in_memory_there_is_none();
    remove_dir(dir);
    return tap_done();
}
