/* Does what its input says, and most of it is bad. The first byte is the
 * deed, the rest its argument. Built plainly, by AFL++ and by wug cc. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <unistd.h>

static const char *scratch(void) {
    const char *folder = getenv("TMPDIR");
    return folder ? folder : "/tmp";
}

/* Leaves a process behind that outlives everybody, if it may. */
static void leave_daemon(void) {
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        if (fork() == 0)
            for (;;)
                pause();
        for (;;)
            pause();
    }
}

static int write_file(const char *path, long megabytes) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0)
        return errno;
    for (long i = 0; i < megabytes; i++)
        if (write(fd, block, sizeof block) < 0)
            return errno;
    close(fd);
    return 0;
}

int deed(const char *text, size_t length) {
    char path[4096];
    char argument[2048];
    size_t n = length > 0 ? length - 1 : 0;
    if (n >= sizeof argument)
        n = sizeof argument - 1;
    if (length > 0)
        memcpy(argument, text + 1, n);
    argument[n] = 0;
    switch (length > 0 ? text[0] : 0) {
    case 'e': /* exit with a code */
        exit(atoi(argument));
    case 'a':
        abort();
    case 's':
        *(volatile int *)8 = 1;
        return 0;
    case 'r': /* die of a signal */
        kill(getpid(), atoi(argument));
        return 0;
    case 'z': /* takes some milliseconds */
        usleep(1000 * atoi(argument));
        return 0;
    case '.': { /* goes where its bytes say */
        volatile int dots = 0, commas = 0, others = 0;
        for (size_t i = 0; i < length; i++) {
            if (text[i] == '.') dots++;
            else if (text[i] == ',') commas++;
            else others++;
        }
        if (commas == 7) dots = 0;
        if (others > 40) commas = 0;
        return 0;
    }
    case 'h':
        for (;;)
            pause();
    case 'H': /* a hang that burns time and hears nothing */
        for (int i = 1; i < 32; i++)
            signal(i, SIG_IGN);
        for (volatile unsigned i = 0;; i++)
            ;
    case 'f':
        leave_daemon();
        return 0;
    case 'D': /* a daemon first, then another deed */
        leave_daemon();
        return deed(argument, n);
    case 'b': /* forks without end */
        for (;;)
            if (fork() < 0 && argument[0] == '1')
                return 0;
    case 'l': { /* leaks 100 MB, all of it used */
        size_t size = 100 << 20;
        char *memory = malloc(size);
        if (!memory)
            abort();
        for (size_t i = 0; i < size; i += 4096)
            memory[i] = 1;
        return memory[4096] - 1;
    }
    case 'c':
        for (int i = 0; i < 1024; i++)
            close(i);
        return 0;
    case 'k':
        kill(getppid(), SIGKILL);
        return 0;
    case 'K':
        kill(-1, SIGKILL);
        return 0;
    case 'g': /* signal somebody: exits 0 if it could */
        return kill(atoi(argument), SIGTERM) == 0 ? 0 : 1;
    case 'w': /* a gigabyte into one file */
        snprintf(path, sizeof path, "%s/large", scratch());
        return write_file(path, 1024) != 0;
    case 'W': /* a gigabyte into many files */
        for (int i = 0; i < 1024; i++) {
            snprintf(path, sizeof path, "%s/part%d", scratch(), i);
            int failed = write_file(path, 1);
            if (failed)
                return failed == ENOSPC ? 28 : 1;
        }
        return 0;
    case 'O': /* a gigabyte of output */
        for (int i = 0; i < 1024; i++) {
            static char block[1 << 20];
            memset(block, 'y', sizeof block);
            if (write(1, block, sizeof block) < 0)
                return 1;
        }
        return 0;
    case 't': /* leaves deep folders without rights in the scratch folder */
        if (chdir(scratch()))
            return 1;
        for (int i = 0; i < 200; i++)
            if (mkdir("deeper", 0700) || chdir("deeper"))
                return 1;
        if (symlink("/etc/passwd", "link"))
            return 1;
        return chmod(".", 0);
    case 'q': { /* is anything left in the scratch folder? */
        snprintf(path, sizeof path, "ls -A '%s' | grep -q .", scratch());
        return system(path) == 0 ? 1 : 0;
    }
    case 'p': /* writes to a path: exits 0 if it could */
        return write_file(argument, 1) == 0 ? 0 : 1;
    case 'u':
        return unlink(argument) == 0 ? 0 : 1;
    case 'S':
        setsid();
        setpgid(0, 0);
        return 0;
    case 'n': { /* connects to a port of this machine: exits 0 if it could */
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argument))};
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? 0 : 1;
    }
    case 'M': /* leaves System V memory behind */
        return shmget(IPC_PRIVATE, 12345, IPC_CREAT | 0600) < 0;
    case 'P': /* tells its number */
        return getpid() & 127;
    case 'i': /* is it still root? */
        return getuid() == 0 ? 1 : 0;
    case 'E': /* prints a variable */
        printf("%s\n", getenv(argument) ? getenv(argument) : "(none)");
        fflush(stdout);
        return 0;
    case 'L': /* says how long the input was */
        printf("%zu\n", length);
        fflush(stdout);
        return 0;
    default:
        return 0;
    }
}

#ifdef PERSISTENT
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t length) {
    return deed((const char *)data, length), 0;
}
#else
int main(int argc, char **argv) {
    static char text[1 << 24];
    size_t length = 0;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
    ssize_t got;
    if (fd < 0)
        return 99;
    while ((got = read(fd, text + length, sizeof text - length)) > 0)
        length += got;
    return deed(text, length);
}
#endif
