/* Pages that a fork copies at once, in place of a fault on each side later.
 *
 * Memory that a device may write to stays where it is: fork gives the child
 * copies of such pages, and the parent's remain writable. Buffers of an
 * io_uring are such memory; the ring is never used for anything else. Where
 * there is none, or it is not permitted, nothing changes. */
#define _GNU_SOURCE
#include "internal.h"
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A copy costs half of a fault, so a page must be written in every other run
 * to be worth it: of much data, that is not likely. */
#define MOST ((size_t)256 * WUG_MAP_PAGE)

/* <linux/io_uring.h> is not everywhere. */
#define REGISTER_BUFFERS 0
#define UNREGISTER_BUFFERS 1

HIDDEN int wug_last_fd = WUG_STATUS_FD;

#if defined SYS_io_uring_setup && defined SYS_io_uring_register
/* The ring has the number after the pipes, so that children close all three
 * in one call. */
static int open_ring(void) {
    uint64_t parameters[15] = {0};
    int made = (int)syscall(SYS_io_uring_setup, 1, parameters);
    if (made < 0) return 0;
    int ring = fcntl(made, F_DUPFD_CLOEXEC, WUG_STATUS_FD + 1);
    close(made);
    if (ring == WUG_STATUS_FD + 1) wug_last_fd = ring;
    else if (ring >= 0) close(ring);
    return wug_last_fd == ring;
}

HIDDEN void wug_pin(struct iovec *parts, unsigned count) {
    size_t room = MOST;
    if (wug_last_fd != WUG_STATUS_FD) syscall(SYS_io_uring_register, wug_last_fd, UNREGISTER_BUFFERS, 0, 0);
    else if (!open_ring()) return;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].iov_len > room) count = i;
        room -= parts[i].iov_len;
    }
    if (count) syscall(SYS_io_uring_register, wug_last_fd, REGISTER_BUFFERS, parts, count);
}
#else
HIDDEN void wug_pin(struct iovec *parts, unsigned count) { (void)parts, (void)count; }
#endif
