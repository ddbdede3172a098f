/* An allow list, as container engines have one: what programs use is allowed; what reaches beyond a
 * container is refused with EPERM unless the capability that the kernel asks for is there; anything
 * else, which is mostly what kernels will have one day, does not exist (ENOSYS), so that the C
 * library falls back to what does. Only the machine's own calling convention is served: 32-bit
 * programs do not run. */

#include "sandbox/filter.h"

#include "base/mem.h"
#include "base/str.h"
#include "sandbox/caps.h"
#include "sys/sys.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names that this machine's architecture, or libseccomp, does not know are left out. */
static const char *const allowed[] = {
    /* files */
    "open openat openat2 creat close close_range read write readv writev pread64 pwrite64 preadv "
    "pwritev preadv2 pwritev2 lseek _llseek sendfile sendfile64 splice tee vmsplice copy_file_range "
    "dup dup2 dup3 fcntl fcntl64 flock ioctl fsync fdatasync sync syncfs sync_file_range fallocate "
    "truncate truncate64 ftruncate ftruncate64 readahead fadvise64 fadvise64_64 cachestat",
    "stat stat64 lstat lstat64 fstat fstat64 newfstatat fstatat64 statx statfs statfs64 fstatfs "
    "fstatfs64 access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd chdir "
    "fchdir umask mkdir mkdirat rmdir mknod mknodat link linkat symlink symlinkat unlink unlinkat "
    "rename renameat renameat2 chmod fchmod fchmodat fchmodat2 chown chown32 fchown fchown32 lchown "
    "lchown32 fchownat utime utimes utimensat utimensat_time64 futimesat name_to_handle_at",
    "getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr listxattr llistxattr flistxattr "
    "removexattr lremovexattr fremovexattr getxattrat setxattrat listxattrat removexattrat "
    "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_mark",
    /* memory */
    "mmap mmap2 munmap mremap mprotect madvise process_madvise mincore msync mlock mlock2 mlockall "
    "munlock munlockall brk memfd_create memfd_secret remap_file_pages pkey_alloc pkey_free "
    "pkey_mprotect map_shadow_stack mseal membarrier",
    /* of the process's own memory alone: what numactl, hwloc and NCCL ask for */
    "get_mempolicy set_mempolicy mbind set_mempolicy_home_node",
    /* processes and threads */
    "fork vfork execve execveat exit exit_group wait4 waitid waitpid getpid getppid gettid getpgid "
    "getpgrp getsid setpgid setsid set_tid_address set_robust_list get_robust_list rseq futex "
    "futex_time64 futex_waitv futex_wait futex_wake futex_requeue prctl arch_prctl set_thread_area "
    "get_thread_area set_tls modify_ldt kill tkill tgkill pidfd_open pidfd_send_signal pidfd_getfd "
    "restart_syscall seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self "
    "uretprobe",
    /* of processes in reach, which the pid namespace and ptrace's own rules bound */
    "ptrace process_vm_readv process_vm_writev kcmp",
    "getuid getuid32 geteuid geteuid32 getgid getgid32 getegid getegid32 getresuid getresuid32 "
    "getresgid getresgid32 getgroups getgroups32 setuid setuid32 setgid setgid32 setreuid "
    "setreuid32 setregid setregid32 setresuid setresuid32 setresgid setresgid32 setfsuid "
    "setfsuid32 setfsgid setfsgid32 setgroups setgroups32 capget capset getrlimit setrlimit "
    "ugetrlimit prlimit64 getrusage getpriority setpriority ioprio_get ioprio_set times sysinfo "
    "uname syslog",
    "sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam "
    "sched_getscheduler sched_setscheduler sched_getattr sched_setattr sched_get_priority_max "
    "sched_get_priority_min sched_rr_get_interval sched_rr_get_interval_time64 getcpu",
    /* signals, time, waiting */
    "rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend "
    "rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sigaltstack sigreturn sigprocmask "
    "signalfd signalfd4 pause alarm getitimer setitimer nanosleep clock_nanosleep "
    "clock_nanosleep_time64 clock_gettime clock_gettime64 clock_getres clock_getres_time64 "
    "gettimeofday time timer_create timer_delete timer_getoverrun timer_gettime timer_gettime64 "
    "timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime "
    "timerfd_settime64 getrandom",
    "poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_create epoll_create1 "
    "epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 pipe pipe2 io_setup io_submit "
    "io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64",
    /* sockets and System V or POSIX queues, semaphores, memory; socket() itself is below */
    "socketpair bind connect listen accept accept4 getsockname getpeername getsockopt setsockopt "
    "shutdown send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg recvmmsg_time64",
    "ipc msgctl msgget msgrcv msgsnd semctl semget semop semtimedop semtimedop_time64 shmat shmctl "
    "shmdt shmget mq_open mq_unlink mq_notify mq_getsetattr mq_timedreceive mq_timedreceive_time64 "
    "mq_timedsend mq_timedsend_time64",
};

#define BIT(cap) (UINT64_C(1) << (cap))

/* Refused with EPERM, unless any of the capabilities is there; 0: always. */
static const struct {
    uint64_t caps;
    const char *calls;
} guarded[] = {
    { BIT(CAP_SYS_ADMIN),
      "mount umount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr "
      "statmount listmount unshare setns fanotify_init lookup_dcookie quotactl quotactl_fd "
      "sethostname setdomainname" },
    { BIT(CAP_SYS_ADMIN) | BIT(CAP_BPF), "bpf" },
    { BIT(CAP_SYS_ADMIN) | BIT(CAP_PERFMON), "perf_event_open" },
    { BIT(CAP_DAC_READ_SEARCH), "open_by_handle_at" },
    { BIT(CAP_SYS_BOOT), "reboot" },
    { BIT(CAP_SYS_CHROOT), "chroot" },
    { BIT(CAP_SYS_MODULE), "init_module finit_module delete_module query_module" },
    { BIT(CAP_SYS_PACCT), "acct" },
    { BIT(CAP_SYS_RAWIO), "iopl ioperm" },
    { BIT(CAP_SYS_TIME), "settimeofday stime adjtimex clock_adjtime clock_adjtime64 clock_settime "
                         "clock_settime64" },
    { BIT(CAP_SYS_TTY_CONFIG), "vhangup" },
    { BIT(CAP_SYS_NICE), "migrate_pages move_pages" },
    { 0,
      "add_key keyctl request_key kexec_load kexec_file_load pivot_root swapon swapoff userfaultfd "
      "io_uring_setup io_uring_enter io_uring_register nfsservctl ustat sysfs uselib vm86 vm86old "
      "_sysctl create_module get_kernel_syms" },
};

/* Flags of clone that make a namespace. */
static const uint64_t namespaces[] = { CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                       CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP };
/* What programs that are not debuggers ask for; the last one only asks. */
static const uint64_t personalities[] = { 0, 0x8, 0x20000, 0x20008, 0xffffffff };

static int add(scmp_filter_ctx f, uint32_t action, const char *calls)
{
    char one[64];

    for (str rest = str_of(calls); rest.p;) {
        str name = str_cut(&rest, ' ');
        snprintf(one, sizeof(one), "%" PRI_STR, STR_ARG(name));
        int number = seccomp_syscall_resolve_name(one);
        if (number < 0) /* another architecture's, or newer than the library */
            continue;
        if (seccomp_rule_add(f, action, number, 0) < 0)
            return -1;
    }
    return 0;
}

/* No namespaces of its own: what is masked in ours stays so. */
static int add_clone(scmp_filter_ctx f, bool admin)
{
    uint64_t all = 0;
    int rc = 0;

    for (size_t i = 0; i < COUNT(namespaces); i++)
        all |= namespaces[i];
    if (admin)
        return add(f, SCMP_ACT_ALLOW,
                   "clone clone3"); /* without: ENOSYS, and the C library uses clone */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, all, 0));
    for (size_t i = 0; i < COUNT(namespaces); i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                               SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    return rc;
}

/* Neither the kernel's ciphers nor the machine's hypervisor are a pod's to talk to. */
static int add_rest(scmp_filter_ctx f)
{
    int rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_LT, AF_ALG));

    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_NFC));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_GT, AF_VSOCK));
    rc |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                           SCMP_A0(SCMP_CMP_EQ, AF_ALG));
    rc |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                           SCMP_A0(SCMP_CMP_EQ, AF_VSOCK));
    for (size_t i = 0; i < COUNT(personalities); i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(personality), 1,
                               SCMP_A0(SCMP_CMP_EQ, personalities[i]));
    return rc;
}

static int fill(scmp_filter_ctx f, uint64_t caps)
{
    int rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));

    rc |= seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
    for (size_t i = 0; rc == 0 && i < COUNT(allowed); i++)
        rc = add(f, SCMP_ACT_ALLOW, allowed[i]);
    for (size_t i = 0; rc == 0 && i < COUNT(guarded); i++)
        rc = add(f, guarded[i].caps & caps ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM),
                 guarded[i].calls);
    return rc != 0 || add_clone(f, caps & BIT(CAP_SYS_ADMIN)) != 0 || add_rest(f) != 0 ? -1 : 0;
}

/* The library writes programs to descriptors alone. */
static int read_program(scmp_filter_ctx f, struct sock_fprog *out)
{
    AUTO(sys_fd) int fd = memfd_create("filter", MFD_CLOEXEC);
    struct stat s;

    if (fd < 0 || seccomp_export_bpf(f, fd) < 0 || fstat(fd, &s) < 0 || s.st_size == 0)
        return -1;
    out->filter = mem_room((size_t)s.st_size);
    out->len = (unsigned short)((size_t)s.st_size / sizeof(struct sock_filter));
    return pread(fd, out->filter, (size_t)s.st_size, 0) == s.st_size ? 0 : -1;
}

static int compile(uint64_t caps, struct sock_fprog *out)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int rc = f && fill(f, caps) == 0 ? read_program(f, out) : -1;

    if (f)
        seccomp_release(f);
    return rc;
}

/* The capabilities that make a difference. */
static uint64_t of_interest(uint64_t caps)
{
    uint64_t all = 0;

    for (size_t i = 0; i < COUNT(guarded); i++)
        all |= guarded[i].caps;
    return caps & all;
}

static struct sock_fprog usual;

void warden_filter_prepare(void)
{
    if (!usual.len && compile(warden_caps_default(), &usual) < 0)
        usual.len = 0;
}

int warden_filter_set(uint64_t caps, struct err *e)
{
    struct sock_fprog own = { 0 };
    bool same = of_interest(caps) == of_interest(warden_caps_default());

    if (same)
        warden_filter_prepare();
    if (!same && compile(caps, &own) < 0)
        own.len = 0;
    const struct sock_fprog *p = same ? &usual : &own;
    if (!p->len)
        return err_set(e, ERR_IO, "compile the filter of system calls");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, p) < 0)
        return err_sys(e,
                       "set the filter of system calls (seccompProfile: Unconfined does without)");
    return 0;
}
