/* A shim for user-mode Linux (LD_PRELOAD) on processors whose extended register state is longer than its kernel knows.
 *
 * Linux takes a register set NT_X86_XSTATE from ptrace only whole (arch/x86/kernel/fpu/regset.c, xstateregs_set: EFAULT
 * for any other length). A guest kernel of version 6.1 keeps a buffer of fixed size, which processors with AMX (8 KiB
 * of tiles) outgrow: it panics, "ptrace set fp regs failed, errno = 14". Where the host refuses so, this reads the whole
 * set, puts the guest's shorter one over its beginning, and writes that. All other calls go through as they are.
 *
 * Leaves out: what lies behind the guest's buffer (tiles) stays as the host has it; the guest does not use it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The longest state there is: 11 KiB with AMX (Intel SDM volume 1, 13.4), so twice that is enough for some time. */
#define LONGEST 24576

typedef long (*ptrace_call)(int, pid_t, void *, void *);

static long write_whole(ptrace_call call, pid_t pid, void *kind, const struct iovec *given)
{
    static __thread unsigned char whole[LONGEST];
    struct iovec set = { whole, sizeof whole };

    if (call(PTRACE_GETREGSET, pid, kind, &set) < 0)
        return -1;
    if (set.iov_len <= given->iov_len) {
        errno = EFAULT;
        return -1;
    }
    memcpy(whole, given->iov_base, given->iov_len);
    return call(PTRACE_SETREGSET, pid, kind, &set);
}

long ptrace(enum __ptrace_request request, ...)
{
    static ptrace_call next;
    va_list rest;

    va_start(rest, request);
    pid_t pid = va_arg(rest, pid_t);
    void *address = va_arg(rest, void *);
    void *data = va_arg(rest, void *);
    va_end(rest);
    if (!next)
        next = (ptrace_call)dlsym(RTLD_NEXT, "ptrace");
    long result = next((int)request, pid, address, data);
    int is_state = request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE;
    if (result < 0 && errno == EFAULT && is_state && data)
        return write_whole(next, pid, address, data);
    return result;
}
