/* launch.c - runs a printed kernel as its only worker, for an emulator.
 *
 *     launch SCRATCH N_SIZE SIZE... FILE...
 *
 * Each file holds an argument's elements, is read, and is written back. */
#include <stdio.h>
#include <stdlib.h>

void axe_entry(void *const *ptr, const long long *size, long long worker,
               long long n_worker, void *scratch, void *team);

enum { MAX_ARGUMENT = 16, LINE = 64 };

static void *
read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *s;

    if (!f || fseek(f, 0, SEEK_END) != 0)
        exit(2);
    *n = (size_t)ftell(f);
    rewind(f);
    s = aligned_alloc(LINE, (*n / LINE + 1) * LINE);
    if (!s || fread(s, 1, *n, f) != *n)
        exit(2);
    fclose(f);
    return s;
}

int
main(int argc, char **argv)
{
    long long size[MAX_ARGUMENT];
    void     *ptr[MAX_ARGUMENT];
    size_t    bytes[MAX_ARGUMENT];
    int       n_size = argc > 2 ? atoi(argv[2]) : 0, n = argc - 3 - n_size;
    void     *scratch;

    if (argc < 3 || n_size > MAX_ARGUMENT || n < 0 || n > MAX_ARGUMENT)
        return 2;
    for (int i = 0; i < n_size; i++)
        size[i] = atoll(argv[3 + i]);
    for (int i = 0; i < n; i++)
        ptr[i] = read_file(argv[3 + n_size + i], &bytes[i]);
    scratch = aligned_alloc(LINE, ((size_t)atoll(argv[1]) / LINE + 1) * LINE);
    axe_entry(ptr, size, 0, 1, scratch, NULL);
    for (int i = 0; i < n; i++) {
        FILE *f = fopen(argv[3 + n_size + i], "wb");
        if (!f || fwrite(ptr[i], 1, bytes[i], f) != bytes[i] || fclose(f) != 0)
            return 2;
    }
    return 0;
}
