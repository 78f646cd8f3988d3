/* The table of system calls, in the order of their numbers. */
#include "analysis/instruction/linux_syscalls.h"

#include <stddef.h>

#include "base/compiler.h"

/* clang-format off */
static const tl_linux_call all_calls[] = {
    {0, 0, "io_setup", "dq"}, {1, 0, "io_destroy", "n"}, {2, 0, "io_submit", "nlp"}, {3, 0, "io_cancel", "npq"},
    {4, 0, "io_getevents", "nllQp"}, {5, 0, "setxattr", "ssbnx"}, {6, 0, "lsetxattr", "ssbnx"},
    {7, 0, "fsetxattr", "fsbnx"}, {8, 0, "getxattr", "ssBn"}, {9, 0, "lgetxattr", "ssBn"},
    {10, 0, "fgetxattr", "fsBn"}, {11, 0, "listxattr", "sBn"}, {12, 0, "llistxattr", "sBn"},
    {13, 0, "flistxattr", "fBn"}, {14, 0, "removexattr", "ss"}, {15, 0, "lremovexattr", "ss"},
    {16, 0, "fremovexattr", "fs"}, {17, 0, "getcwd", "Bn"}, {18, 0, "lookup_dcookie", "nBn"},
    {19, 0, "eventfd2", "dx"}, {20, 0, "epoll_create1", "x"}, {21, 0, "epoll_ctl", "fdfp"},
    {22, 0, "epoll_pwait", "fQddpn"}, {23, 0, "dup", "f"}, {24, 0, "dup3", "ffC"}, {25, 0, "fcntl", "fdQ"},
    {26, 0, "inotify_init1", "x"}, {27, 0, "inotify_add_watch", "fsx"}, {28, 0, "inotify_rm_watch", "fd"},
    {29, 0, "ioctl", "fxQ"}, {30, 0, "ioprio_set", "ddd"}, {31, 0, "ioprio_get", "dd"}, {32, 0, "flock", "fd"},
    {33, 0, "mknodat", "@sox"}, {34, 0, "mkdirat", "@so"}, {35, 0, "unlinkat", "@sA"}, {36, 0, "symlinkat", "s@s"},
    {37, 0, "linkat", "@s@sA"}, {38, 0, "renameat", "@s@s"}, {39, 0, "umount2", "sx"}, {40, 0, "mount", "sssxp"},
    {41, 0, "pivot_root", "ss"}, {42, 0, "nfsservctl", "dpQ"}, {43, 0, "statfs", "sq"}, {44, 0, "fstatfs", "fq"},
    {45, 0, "truncate", "sl"}, {46, 0, "ftruncate", "fl"}, {47, 0, "fallocate", "fxll"},
    {48, 0, "faccessat", "@sR"}, {49, 0, "chdir", "s"}, {50, 0, "fchdir", "f"}, {51, 0, "chroot", "s"},
    {52, 0, "fchmod", "fo"}, {53, 0, "fchmodat", "@so"}, {54, 0, "fchownat", "@sddA"}, {55, 0, "fchown", "fdd"},
    {56, 0, "openat", "@sOo"}, {57, 0, "close", "f"}, {58, 0, "vhangup", ""}, {59, 0, "pipe2", "qC"},
    {60, 0, "quotactl", "xsdQ"}, {61, 0, "getdents64", "fBn"}, {62, 0, "lseek", "flw"}, {63, 0, "read", "fBn"},
    {64, 0, "write", "fbn"}, {65, 0, "readv", "fVd"}, {66, 0, "writev", "fvd"}, {67, 0, "pread64", "fBnl"},
    {68, 0, "pwrite64", "fbnl"}, {69, 0, "preadv", "fVdl"}, {70, 0, "pwritev", "fvdl"},
    {71, 0, "sendfile", "ffqn"}, {72, 0, "pselect6", "dqqqqp"}, {73, 0, "ppoll", "QnqpQ"},
    {74, 0, "signalfd4", "fpnx"}, {75, 0, "vmsplice", "fpnx"}, {76, 0, "splice", "fqfqnx"}, {77, 0, "tee", "ffnx"},
    {78, 0, "readlinkat", "@sBn"}, {79, 0, "newfstatat", "@sqA"}, {80, 0, "fstat", "fq"}, {81, 0, "sync", ""},
    {82, 0, "fsync", "f"}, {83, 0, "fdatasync", "f"}, {84, 0, "sync_file_range", "fllx"},
    {85, 0, "timerfd_create", "cx"}, {86, 0, "timerfd_settime", "fxpq"}, {87, 0, "timerfd_gettime", "fq"},
    {88, 0, "utimensat", "@spA"}, {89, 0, "acct", "s"}, {90, 0, "capget", "qq"}, {91, 0, "capset", "pp"},
    {92, 0, "personality", "x"}, {93, 0, "exit", "d"}, {94, 0, "exit_group", "d"}, {95, 0, "waitid", "ddqxq"},
    {96, 0, "set_tid_address", "p"}, {97, 0, "unshare", "x"}, {98, 0, "futex", "pFdppx"},
    {99, 0, "set_robust_list", "pn"}, {100, 0, "get_robust_list", "dqq"}, {101, 0, "nanosleep", "pq"},
    {102, 0, "getitimer", "dq"}, {103, 0, "setitimer", "dpq"}, {104, 0, "kexec_load", "nnpx"},
    {105, 0, "init_module", "pns"}, {106, 0, "delete_module", "sx"}, {107, 0, "timer_create", "cpq"},
    {108, 0, "timer_gettime", "dq"}, {109, 0, "timer_getoverrun", "d"}, {110, 0, "timer_settime", "dxpq"},
    {111, 0, "timer_delete", "d"}, {112, 0, "clock_settime", "cp"}, {113, 0, "clock_gettime", "cq"},
    {114, 0, "clock_getres", "cq"}, {115, 0, "clock_nanosleep", "cxpq"}, {116, 0, "syslog", "dBn"},
    {117, 0, "ptrace", "ldxQ"}, {118, 0, "sched_setparam", "dp"}, {119, 0, "sched_setscheduler", "ddp"},
    {120, 0, "sched_getscheduler", "d"}, {121, 0, "sched_getparam", "dq"}, {122, 0, "sched_setaffinity", "dnp"},
    {123, 0, "sched_getaffinity", "dnQ"}, {124, 0, "sched_yield", ""}, {125, 0, "sched_get_priority_max", "d"},
    {126, 0, "sched_get_priority_min", "d"}, {127, 0, "sched_rr_get_interval", "dq"},
    {128, 0, "restart_syscall", ""}, {129, 0, "kill", "dg"}, {130, 0, "tkill", "dg"}, {131, 0, "tgkill", "ddg"},
    {132, 0, "sigaltstack", "pq"}, {133, 0, "rt_sigsuspend", "pn"}, {134, 0, "rt_sigaction", "gpqn"},
    {135, 0, "rt_sigprocmask", "dpqn"}, {136, 0, "rt_sigpending", "qn"}, {137, 0, "rt_sigtimedwait", "pqpn"},
    {138, 0, "rt_sigqueueinfo", "dgp"}, {139, 0, "rt_sigreturn", ""}, {140, 0, "setpriority", "ddd"},
    {141, 0, "getpriority", "dd"}, {142, 0, "reboot", "xxxp"}, {143, 0, "setregid", "dd"}, {144, 0, "setgid", "d"},
    {145, 0, "setreuid", "dd"}, {146, 0, "setuid", "d"}, {147, 0, "setresuid", "ddd"},
    {148, 0, "getresuid", "qqq"}, {149, 0, "setresgid", "ddd"}, {150, 0, "getresgid", "qqq"},
    {151, 0, "setfsuid", "d"}, {152, 0, "setfsgid", "d"}, {153, 0, "times", "q"}, {154, 0, "setpgid", "dd"},
    {155, 0, "getpgid", "d"}, {156, 0, "getsid", "d"}, {157, 0, "setsid", ""}, {158, 0, "getgroups", "dQ"},
    {159, 0, "setgroups", "dp"}, {160, 0, "uname", "q"}, {161, 0, "sethostname", "bn"},
    {162, 0, "setdomainname", "bn"}, {163, 0, "getrlimit", "dq"}, {164, 0, "setrlimit", "dp"},
    {165, 0, "getrusage", "dq"}, {166, 0, "umask", "o"}, {167, 0, "prctl", "dxxxx"}, {168, 0, "getcpu", "qqp"},
    {169, 0, "gettimeofday", "qq"}, {170, 0, "settimeofday", "pp"}, {171, 0, "adjtimex", "q"},
    {172, 0, "getpid", ""}, {173, 0, "getppid", ""}, {174, 0, "getuid", ""}, {175, 0, "geteuid", ""},
    {176, 0, "getgid", ""}, {177, 0, "getegid", ""}, {178, 0, "gettid", ""}, {179, 0, "sysinfo", "q"},
    {180, 0, "mq_open", "sOop"}, {181, 0, "mq_unlink", "s"}, {182, 0, "mq_timedsend", "fbndp"},
    {183, 0, "mq_timedreceive", "fBnqp"}, {184, 0, "mq_notify", "fp"}, {185, 0, "mq_getsetattr", "fpq"},
    {186, 0, "msgget", "xx"}, {187, 0, "msgctl", "ddQ"}, {188, 0, "msgrcv", "dQnlx"}, {189, 0, "msgsnd", "dpnx"},
    {190, 0, "semget", "xdx"}, {191, 0, "semctl", "dddQ"}, {192, 0, "semtimedop", "dpnp"},
    {193, 0, "semop", "dpn"}, {194, 0, "shmget", "xnx"}, {195, 0, "shmctl", "ddQ"},
    {196, TL_SYSCALL_ADDRESS, "shmat", "dQx"}, {197, 0, "shmdt", "Q"}, {198, 0, "socket", "ddd"},
    {199, 0, "socketpair", "dddq"}, {200, 0, "bind", "fpn"}, {201, 0, "listen", "fd"}, {202, 0, "accept", "fqq"},
    {203, 0, "connect", "fpn"}, {204, 0, "getsockname", "fqq"}, {205, 0, "getpeername", "fqq"},
    {206, 0, "sendto", "fbnxpn"}, {207, 0, "recvfrom", "fBnxqq"}, {208, 0, "setsockopt", "fddpn"},
    {209, 0, "getsockopt", "fddQq"}, {210, 0, "shutdown", "fd"}, {211, 0, "sendmsg", "fpx"},
    {212, 0, "recvmsg", "fQx"}, {213, 0, "readahead", "fln"}, {214, TL_SYSCALL_ADDRESS, "brk", "p"},
    {215, 0, "munmap", "an"}, {216, TL_SYSCALL_ADDRESS, "mremap", "Qnnxp"}, {217, 0, "add_key", "ssbnd"},
    {218, 0, "request_key", "sssd"}, {219, 0, "keyctl", "dxxxQ"}, {220, 0, "clone", "xpqxq"},
    {221, 0, "execve", "sQp"}, {222, TL_SYSCALL_ADDRESS, "mmap", "anPMfx"}, {223, 0, "fadvise64", "flld"},
    {224, 0, "swapon", "sx"}, {225, 0, "swapoff", "s"}, {226, 0, "mprotect", "pnP"}, {227, 0, "msync", "pnx"},
    {228, 0, "mlock", "pn"}, {229, 0, "munlock", "pn"}, {230, 0, "mlockall", "x"}, {231, 0, "munlockall", ""},
    {232, 0, "mincore", "pnQ"}, {233, 0, "madvise", "and"}, {234, 0, "remap_file_pages", "anxnx"},
    {235, 0, "mbind", "pndpnx"}, {236, 0, "get_mempolicy", "qQnpx"}, {237, 0, "set_mempolicy", "dpn"},
    {238, 0, "migrate_pages", "dnpp"}, {239, 0, "move_pages", "dnppQx"}, {240, 0, "rt_tgsigqueueinfo", "ddgp"},
    {241, 0, "perf_event_open", "pddfx"}, {242, 0, "accept4", "fqqx"}, {243, 0, "recvmmsg", "fQnxp"},
    {260, 0, "wait4", "dqxq"}, {261, 0, "prlimit64", "ddpq"}, {262, 0, "fanotify_init", "xx"},
    {263, 0, "fanotify_mark", "fxx@s"}, {264, 0, "name_to_handle_at", "@sqqA"},
    {265, 0, "open_by_handle_at", "@pO"}, {266, 0, "clock_adjtime", "cq"}, {267, 0, "syncfs", "f"},
    {268, 0, "setns", "fx"}, {269, 0, "sendmmsg", "fQnx"}, {270, 0, "process_vm_readv", "dVnvnx"},
    {271, 0, "process_vm_writev", "dvnvnx"}, {272, 0, "kcmp", "dddnn"}, {273, 0, "finit_module", "fsx"},
    {274, 0, "sched_setattr", "dpx"}, {275, 0, "sched_getattr", "dqnx"}, {276, 0, "renameat2", "@s@sx"},
    {277, 0, "seccomp", "dxQ"}, {278, 0, "getrandom", "Bnx"}, {279, 0, "memfd_create", "sx"},
    {280, 0, "bpf", "dQn"}, {281, 0, "execveat", "@sQpA"}, {282, 0, "userfaultfd", "x"},
    {283, 0, "membarrier", "dxd"}, {284, 0, "mlock2", "pnx"}, {285, 0, "copy_file_range", "fqfqnx"},
    {286, 0, "preadv2", "fVdllx"}, {287, 0, "pwritev2", "fvdllx"}, {288, 0, "pkey_mprotect", "pnPd"},
    {289, 0, "pkey_alloc", "xx"}, {290, 0, "pkey_free", "d"}, {291, 0, "statx", "@sAxq"},
    {292, 0, "io_pgetevents", "nllQpp"}, {293, 0, "rseq", "pndx"}, {294, 0, "kexec_file_load", "ffnpx"},
    {424, 0, "pidfd_send_signal", "fgpx"}, {425, 0, "io_uring_setup", "dq"}, {426, 0, "io_uring_enter", "fddxQn"},
    {427, 0, "io_uring_register", "fdQd"}, {428, 0, "open_tree", "@sx"}, {429, 0, "move_mount", "@s@sx"},
    {430, 0, "fsopen", "sx"}, {431, 0, "fsconfig", "fdspd"}, {432, 0, "fsmount", "fxx"}, {433, 0, "fspick", "@sx"},
    {434, 0, "pidfd_open", "dx"}, {435, 0, "clone3", "Qn"}, {436, 0, "close_range", "ffx"},
    {437, 0, "openat2", "@spn"}, {438, 0, "pidfd_getfd", "ffx"}, {439, 0, "faccessat2", "@sRA"},
    {440, 0, "process_madvise", "fpndx"}, {441, 0, "epoll_pwait2", "fQdppn"}, {442, 0, "mount_setattr", "@sxpn"},
    {443, 0, "quotactl_fd", "fxdQ"}, {444, 0, "landlock_create_ruleset", "pnx"},
    {445, 0, "landlock_add_rule", "fdpx"}, {446, 0, "landlock_restrict_self", "fx"}, {447, 0, "memfd_secret", "x"},
    {448, 0, "process_mrelease", "fx"}, {449, 0, "futex_waitv", "pdxpc"},
    {450, 0, "set_mempolicy_home_node", "pnnx"}
};
/* clang-format on */

const tl_linux_call *tl_linux_call_of(uint64_t number)
{
    size_t low = 0, high = TL_COUNT(all_calls);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (all_calls[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < TL_COUNT(all_calls) && all_calls[low].number == number ? &all_calls[low] : NULL;
}
