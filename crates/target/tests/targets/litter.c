/* Leaves files in its scratch folder: `l` a file, which must not be there, `d` a
   folder, `r` a file that it removes again; `q` looks for anything. Whoever
   finds what another run left rejects its input. */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int found(const char *folder) {
    struct dirent *entry;
    DIR *open = opendir(folder);
    int count = 0;
    if (!open) return 1;
    while ((entry = readdir(open)))
        count += strncmp(entry->d_name, "left", 4) == 0;
    closedir(open);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[4096];
    const char *scratch = getenv("TMPDIR");
    int file;
    if (size == 0 || !scratch) return 0;
    snprintf(path, sizeof path, "%s/left-%c", scratch, data[0]);
    switch (data[0]) {
    case 'q': return found(scratch) ? -1 : 0;
    case 'd': return mkdir(path, 0);
    case 'l':
    case 'r':
        file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (file < 0) return -1;
        close(file);
        if (data[0] == 'r') unlink(path);
    }
    return 0;
}
