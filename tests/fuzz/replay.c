/* replay.c - runs a fuzz target without libFuzzer: on every file of the
 * folders named, and on every prefix of each, since a truncated input is the
 * commonest bad one.
 *
 * Each input lies in a block of exactly its size, so that a sanitizer sees a
 * read one byte past it.  A folder without files is a failure: a test that
 * looked at nothing has not passed.
 */
#define _POSIX_C_SOURCE 200809L

#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUT = 1 << 20, MAX_PREFIXED = 1024 };

static void
run_copy(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    if (!copy) {
        perror("malloc");
        exit(1);
    }
    memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static int
run_file(const char *path)
{
    static uint8_t data[MAX_INPUT];
    FILE          *f = fopen(path, "rb");
    size_t         len, n;

    if (!f) {
        perror(path);
        return 1;
    }
    len = fread(data, 1, sizeof data, f);
    fclose(f);
    for (n = 0; len <= MAX_PREFIXED && n < len; n++)
        run_copy(data, n);
    run_copy(data, len);
    return 0;
}

static int
run_folder(const char *folder)
{
    struct dirent **entry;
    char            path[4096];
    int             n = scandir(folder, &entry, NULL, alphasort);
    int             i, n_run = 0, rc = 0;

    for (i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') {
            rc |= run_file(path);
            n_run++;
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    printf("%s: %d inputs\n", folder, n_run);
    return n_run ? rc : 1;
}

int
main(int argc, char **argv)
{
    int i, rc = argc < 2;

    for (i = 1; i < argc; i++)
        rc |= run_folder(argv[i]);
    return rc;
}
