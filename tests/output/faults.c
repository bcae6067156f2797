/* Makes the file system fail: loaded with LD_PRELOAD, steered by ctypes. What is counted are files made, writes, flushes
 * (fsync) and renames in one folder; from the n-th of them on each fails with a given error, as on a device that is full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long done, from;
static int with;

/* From the n-th call on (0: never) calls in `path` fail with `error`; counting begins anew. */
void faults_arm(const char *path, long n, int error) {
    snprintf(folder, sizeof folder, "%s", path);
    from = n;
    with = error;
    __atomic_store_n(&done, 0, __ATOMIC_SEQ_CST);
}

long faults_count(void) { return __atomic_load_n(&done, __ATOMIC_SEQ_CST); }

static int fails(const char *path) {
    if (!folder[0] || strncmp(path, folder, strlen(folder)) != 0) return 0;
    long now = __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    if (!from || now < from) return 0;
    errno = with;
    return 1;
}

static int fails_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t length) {
    return fails_fd(fd) ? -1 : REAL(write)(fd, data, length);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
    return fails_fd(fd) ? -1 : REAL(pwrite64)(fd, data, length, at);
}

int fsync(int fd) { return fails_fd(fd) ? -1 : REAL(fsync)(fd); }

int rename(const char *old, const char *new) { return fails(new) ? -1 : REAL(rename)(old, new); }

static int mode_of(int flags, va_list list) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; }

#define OPEN(name)                                                  \
    int name(const char *path, int flags, ...) {                    \
        va_list list;                                               \
        va_start(list, flags);                                      \
        int mode = mode_of(flags, list);                            \
        va_end(list);                                               \
        if ((flags & O_CREAT) && fails(path)) return -1;            \
        return REAL(name)(path, flags, mode);                       \
    }
OPEN(open)
OPEN(open64)
