/* Pages that a fork copies at once, in place of a fault on each side later.
 *
 * Memory that a device may write to stays where it is: fork gives the child
 * copies of such pages, and the parent's remain writable. Buffers of an
 * io_uring are such memory; the ring is never used for anything else. The
 * fuzzer hands one over that can do nothing else (its filter of system calls
 * leaves no other use); without a fuzzer the target makes one. Where there is
 * none, or it is not permitted, nothing changes. */
#define _GNU_SOURCE
#include "internal.h"
#include <errno.h>
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
static int ring = -1;

/* The ring has the number after the pipes and the input's file, so that children
 * close all in one call. */
static int keep_ring(int made) {
    int next = fcntl(made, F_DUPFD_CLOEXEC, wug_last_fd + 1);
    close(made);
    if (next == wug_last_fd + 1) ring = wug_last_fd = next;
    else if (next >= 0) close(next);
    return ring >= 0;
}

static int open_ring(void) {
    uint64_t parameters[15] = {0};
    int made = (int)syscall(SYS_io_uring_setup, 1, parameters);
    return made >= 0 && keep_ring(made);
}

HIDDEN void wug_take_ring(void) {
    /* Buffers of a server that ended are let go of; what is no ring says so. */
    if (!syscall(SYS_io_uring_register, WUG_RING_FD, UNREGISTER_BUFFERS, 0, 0) || errno == ENXIO)
        keep_ring(WUG_RING_FD);
}

HIDDEN void wug_pin(struct iovec *parts, unsigned count) {
    size_t room = MOST;
    if (ring >= 0) syscall(SYS_io_uring_register, ring, UNREGISTER_BUFFERS, 0, 0);
    else if (!open_ring()) return;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].iov_len > room) count = i;
        room -= parts[i].iov_len;
    }
    if (count) syscall(SYS_io_uring_register, ring, REGISTER_BUFFERS, parts, count);
}
#else
HIDDEN void wug_pin(struct iovec *parts, unsigned count) { (void)parts, (void)count; }
HIDDEN void wug_take_ring(void) {}
#endif
