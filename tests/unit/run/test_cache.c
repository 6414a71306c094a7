/* test_cache.c - the disk cache and the compiler behind it: what is found
 * again, what is refused, what a damaged entry or directory does, and eight
 * processes at once. */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/array/file.h"
#include "run/cache/cache.h"

static char root[] = "/tmp/axe_cache_XXXXXX";

typedef struct fixture {
    axe_ctx    *cx;
    axe_cache   cache;
    axe_cc      cc;
    const char *dir;
} fixture;

static fixture
open_at(const char *name)
{
    fixture f = {.cx = axe_ctx_new()};

    f.dir = axe_textf(f.cx, "%s/%s", root, name);
    axe_cache_open(f.cx, f.cx, f.dir, &f.cache);
    assert_int_equal(axe_cc_find(f.cx, NULL, &f.cc), AXE_OK);
    return f;
}

static void
close_fixture(fixture *f)
{
    axe_cache_close(&f->cache);
    axe_ctx_free(f->cx);
}

/* What f() of the loaded object returns; -1 if it does not load. */
static int
value_of(const char *path)
{
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL),
         *s = h ? dlsym(h, "f") : NULL;
    int (*fn)(void);
    int v = -1;

    memcpy(&fn, &s, sizeof fn);
    if (s)
        v = fn();
    if (h)
        dlclose(h);
    return v;
}

static const char *
text_of(fixture *f, int value)
{
    return axe_textf(f->cx, "int f(void) { return %d; }\n", value);
}

static const char *
get(fixture *f, const char *text, bool want_fresh)
{
    const char *path = NULL;
    bool        fresh = !want_fresh;

    assert_int_equal(
        axe_cache_get(f->cx, &f->cache, &f->cc, text, NULL, &path, &fresh),
        AXE_OK);
    assert_int_equal(fresh, want_fresh);
    return path;
}

/* Warnings recorded, errors not counted. */
static int
n_warning(axe_ctx *cx)
{
    int n = 0;

    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        n += d->severity == AXE_WARNING;
    return n;
}

static void
test_sha256(void **state)
{
    static const char *const row[][2] = {
        {"",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    unsigned char hash[AXE_SHA256_BYTES];
    char          text[AXE_SHA256_TEXT];
    axe_sha256    s;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_sha256_init(&s);
        axe_sha256_add(&s, row[i][0], strlen(row[i][0]));
        axe_sha256_end(&s, hash);
        axe_sha256_text(hash, text);
        assert_string_equal(text, row[i][1]);
    }
    axe_sha256_init(&s);
    for (int i = 0; i < 1000000; i++)
        axe_sha256_add(&s, "a", 1);
    axe_sha256_end(&s, hash);
    axe_sha256_text(hash, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e"
                              "046d39ccc7112cd0");
}

static void
test_found_again(void **state)
{
    fixture     f = open_at("again"), g;
    const char *one = get(&f, text_of(&f, 41), true);

    (void)state;
    assert_int_equal(value_of(one), 41);
    assert_ptr_equal(strstr(one, f.dir), one);
    assert_string_equal(get(&f, text_of(&f, 41), false), one);
    assert_int_equal(value_of(get(&f, text_of(&f, 42), true)), 42);
    g = open_at("again");
    assert_string_equal(get(&g, text_of(&g, 41), false), one);
    assert_int_equal(n_warning(f.cx) + n_warning(g.cx), 0);
    close_fixture(&g);
    close_fixture(&f);
}

/* Everything that the machine code depends on is in the name. */
static void
test_key(void **state)
{
    fixture     f = open_at("key");
    const char *text = text_of(&f, 7), *first = get(&f, text, true);
    axe_cc      cc = f.cc;
    const char *flag[64], *path;
    bool        fresh;

    (void)state;
    f.cache.cpu = "another processor";
    assert_string_not_equal(get(&f, text, true), first);
    f.cc.id = "another compiler";
    assert_string_not_equal(get(&f, text, true), first);
    memcpy(flag, cc.flag, (size_t)cc.n_flag * sizeof flag[0]);
    flag[cc.n_flag] = "-DX";
    f.cc.flag = flag;
    f.cc.n_flag++;
    get(&f, text, true);
    assert_int_equal(
        axe_cache_get(f.cx, &f.cache, &f.cc, text, "-lm", &path, &fresh),
        AXE_OK);
    assert_true(fresh);
    get(&f, text, false);
    close_fixture(&f);
}

/* Cut, alter, empty, or swap an entry: each time it is compiled anew. */
static void
test_damaged(void **state)
{
    fixture     f = open_at("damaged");
    const char *path = get(&f, text_of(&f, 5), true);
    const char *other = get(&f, text_of(&f, 6), true);
    axe_bytes   b, o;

    (void)state;
    for (int round = 0; round < 4; round++) {
        assert_int_equal(axe_file_read(f.cx, path, &b), AXE_OK);
        assert_int_equal(axe_file_read(f.cx, other, &o), AXE_OK);
        size_t len = b.len;
        if (round == 0)
            len /= 2;
        if (round == 1)
            b.data[len / 3] ^= 1;
        if (round == 2)
            len = 0;
        assert_int_equal(axe_file_write(f.cx, path, 0700,
                                        round == 3 ? o.data : b.data,
                                        round == 3 ? o.len : len),
                         AXE_OK);
        free(b.data);
        free(o.data);
        get(&f, text_of(&f, 5), true);
        assert_int_equal(value_of(path), 5);
        get(&f, text_of(&f, 5), false);
    }
    close_fixture(&f);
}

static void
test_compile_error(void **state)
{
    fixture     f = open_at("error");
    const char *path = "untouched";

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(axe_cache_get(f.cx, &f.cache, &f.cc,
                                       "int f(void) { return }\n", NULL, &path,
                                       NULL),
                         AXE_ETOOL);
        assert_non_null(strstr(axe_last_error(f.cx), "failed with exit code"));
        assert_string_equal(path, "untouched");
    }
    close_fixture(&f);
}

/* Directories that cannot be or must not be used: a warning, and it works. */
static void
try_bad_dir(const char *dir, const char *why)
{
    axe_ctx    *cx = axe_ctx_new();
    fixture     f = {.cx = cx, .dir = dir};
    const char *path;

    axe_cache_open(cx, cx, dir, &f.cache);
    assert_int_equal(axe_cc_find(cx, NULL, &f.cc), AXE_OK);
    path = get(&f, text_of(&f, 9), true);
    assert_int_equal(value_of(path), 9);
    assert_null(strstr(path, dir));
    assert_int_equal(n_warning(cx), 1);
    assert_non_null(strstr(axe_diags(cx)->text, why));
    path = axe_textf(cx, "%s", path);
    axe_cache_close(&f.cache);
    assert_int_not_equal(access(path, F_OK), 0);
    axe_ctx_free(cx);
}

static void
test_bad_dirs(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *open_dir = axe_textf(cx, "%s/open", root);
    const char *file = axe_textf(cx, "%s/file", root);

    (void)state;
    assert_int_equal(mkdir(open_dir, 0700), 0);
    assert_int_equal(chmod(open_dir, 0777), 0);
    assert_int_equal(axe_file_write(cx, file, 0600, "x", 1), AXE_OK);
    try_bad_dir(open_dir, "other users can write to it");
    try_bad_dir(file, "it is not a directory");
    try_bad_dir(axe_textf(cx, "%s/below", file), "Not a directory");
    try_bad_dir("/proc/axe", "No such file or directory");
    axe_ctx_free(cx);
}

/* The directory turns bad after it was opened. */
static void
test_lost_dir(void **state)
{
    fixture f = open_at("lost");

    (void)state;
    assert_int_equal(rmdir(f.dir), 0);
    assert_int_equal(axe_file_write(f.cx, f.dir, 0600, "x", 1), AXE_OK);
    assert_int_equal(value_of(get(&f, text_of(&f, 3), true)), 3);
    assert_int_equal(n_warning(f.cx), 1);
    assert_int_equal(axe_n_error(f.cx), 0);
    assert_int_equal(value_of(get(&f, text_of(&f, 4), true)), 4);
    assert_int_equal(n_warning(f.cx), 1);
    close_fixture(&f);
}

/* Eight processes want the same eight kernels of an empty directory. */
static void
test_processes(void **state)
{
    pid_t pid[8];
    int   status, n_file = 0;

    (void)state;
    for (int p = 0; p < AXE_LEN(pid); p++) {
        pid[p] = fork();
        assert_int_not_equal(pid[p], -1);
        if (pid[p] == 0) {
            fixture     f = open_at("shared");
            const char *path;
            int         bad = 0;
            for (int i = 0; i < 3; i++)
                bad += axe_cache_get(f.cx, &f.cache, &f.cc, text_of(&f, i),
                                     NULL, &path, NULL) != AXE_OK ||
                       value_of(path) != i;
            bad += axe_diags(f.cx) != NULL;
            close_fixture(&f);
            _exit(bad);
        }
    }
    for (int p = 0; p < AXE_LEN(pid); p++) {
        assert_int_equal(waitpid(pid[p], &status, 0), pid[p]);
        assert_int_equal(status, 0);
    }
    char  command[96];
    FILE *ls;
    snprintf(command, sizeof command, "find %s/shared -type f | wc -l", root);
    ls = popen(command, "r");
    assert_non_null(ls);
    assert_int_equal(fscanf(ls, "%d", &n_file), 1);
    pclose(ls);
    assert_int_equal(n_file, 6);
}

static void
test_no_compiler(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *path = getenv("PATH");
    char       *old = axe_textf(cx, "%s", path ? path : "");
    axe_cc      cc = {.path = "untouched"};

    (void)state;
    unsetenv("AXE_CC");
    unsetenv("CC");
    setenv("PATH", "/nowhere::", 1);
    assert_int_equal(axe_cc_find(cx, NULL, &cc), AXE_ETOOL);
    assert_string_equal(axe_last_error(cx),
                        "kernels for the CPU are compiled by the system's C "
                        "compiler, but none of gcc, clang and cc is on PATH");
    setenv("PATH", old, 1);
    assert_int_equal(axe_cc_find(cx, "no-such-cc -x", &cc), AXE_ETOOL);
    assert_string_equal(axe_last_error(cx),
                        "no C compiler 'no-such-cc -x' (the caller asks for "
                        "it) can be executed");
    setenv("AXE_CC", "/dev/null", 1);
    assert_int_equal(axe_cc_find(cx, NULL, &cc), AXE_ETOOL);
    assert_string_equal(axe_last_error(cx), "no C compiler '/dev/null' (AXE_CC "
                                            "for it) can be executed");
    assert_string_equal(cc.path, "untouched");
    setenv("AXE_CC", "gcc  -DN=3 ", 1);
    assert_int_equal(axe_cc_find(cx, NULL, &cc), AXE_OK);
    assert_string_equal(cc.flag[cc.n_flag - 1], "-DN=3");
    unsetenv("AXE_CC");
    axe_ctx_free(cx);
}

/* What is found but is no compiler. */
static void
test_not_a_compiler(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_cc      cc;
    const char *bad = axe_textf(cx, "%s/bad-cc", root);

    (void)state;
    assert_int_equal(axe_file_write(cx, bad, 0700, "#!/nowhere\n", 11), AXE_OK);
    assert_int_equal(axe_cc_find(cx, bad, &cc), AXE_OK);
    assert_int_equal(axe_cc_compile(cx, &cc, "x.c", NULL, "x.so"), AXE_ETOOL);
    assert_non_null(strstr(axe_last_error(cx), "cannot be run: No such file"));
    assert_int_equal(axe_cc_find(cx, "false", &cc), AXE_OK);
    assert_int_equal(axe_cc_compile(cx, &cc, "x.c", NULL, "x.so"), AXE_ETOOL);
    assert_non_null(strstr(axe_last_error(cx), "failed with exit code 1"));
    axe_ctx_free(cx);
}

/* Machine code comes back byte for byte, for the same words alone. */
static void
test_code(void **state)
{
    static char       code[] = "\177ELF and 100 more";
    const char *const one[2] = {"text", "sm_90a"}, *const two[2] = {"text", ""};
    fixture   f = open_at("code");
    axe_bytes b;

    (void)state;
    assert_false(axe_cache_find(f.cx, &f.cache, AXE_CACHE_CUDA, 2, one, &b));
    axe_cache_keep(f.cx, &f.cache, AXE_CACHE_CUDA, 2, one, "// text",
                   (axe_bytes){.data = (void *)code, .len = sizeof code});
    assert_false(axe_cache_find(f.cx, &f.cache, AXE_CACHE_CUDA, 2, two, &b));
    assert_true(axe_cache_find(f.cx, &f.cache, AXE_CACHE_CUDA, 2, one, &b));
    assert_int_equal(b.len, sizeof code);
    assert_false(axe_cache_find(f.cx, &f.cache, AXE_CACHE_OPENCL, 2, one, &b));
    assert_memory_equal(b.data, code, sizeof code);
    free(b.data);
    close_fixture(&f);
}

static int
clean(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_compile_error),
        cmocka_unit_test(test_bad_dirs),
        cmocka_unit_test(test_lost_dir),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_no_compiler),
        cmocka_unit_test(test_not_a_compiler),
    };

    if (!mkdtemp(root))
        return 1;
    return cmocka_run_group_tests(tests, NULL, clean);
}
