/* test_npy.c - .npy files: every type and order round trips, every bad file
 * has its message, and nothing is left of a write that failed. */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/array/npy.h"

static char folder[] = "/tmp/axe_npy_XXXXXX";

static const char *
path_of(axe_ctx *cx, const char *name)
{
    return axe_textf(cx, "%s/%s", folder, name);
}

/* A file in the ctx: magic, version, header length, header, n_data bytes. */
static unsigned char *
make_file(axe_ctx *cx, int version, const char *header, size_t n_data,
          size_t *len)
{
    size_t         n = strlen(header), at = version == 1 ? 10 : 12;
    unsigned char *b = axe_alloc(cx, at + n + n_data);

    memcpy(b, "\x93NUMPY", 6);
    b[6] = (unsigned char)version;
    b[8] = (unsigned char)(n & 255);
    b[9] = (unsigned char)(n >> 8);
    memcpy(b + at, header, n);
    *len = at + n + n_data;
    return b;
}

static const struct good_row {
    int         version;
    const char *header;
    size_t      n_data;
    axe_type    type;
    const char *meaning; /* order, shape */
} good[] = {
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24,
     AXE_TYPE_f32, "C 2 3"},
    {2, "{'descr':'<f8','fortran_order':True,'shape':(4,)}", 32, AXE_TYPE_f64,
     "F 4"},
    {3, "{\"shape\": (), \"fortran_order\": False, \"descr\": '|u1'}\n", 1,
     AXE_TYPE_u8, "C"},
    {1, "{'descr': '=i8', 'fortran_order': False, 'shape': (3L, 0)}", 0,
     AXE_TYPE_i64, "C 3 0"},
    {1, "{'descr': '<V2', 'fortran_order': False, 'shape': (1,1,1), }", 2,
     AXE_TYPE_bf16, "C 1 1 1"},
    {1, "{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }", 4,
     AXE_TYPE_bf16, "C 2"},
    {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }   \n", 4,
     AXE_TYPE_f16, "C 2"},
    {1, "{'descr': '>i1', 'fortran_order': False, 'shape': (2,), }", 2,
     AXE_TYPE_i8, "C 2"},
    {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 2,
     AXE_TYPE_bool, "C 2"},
};

static const char *
meaning_of(axe_ctx *cx, const axe_npy_head *h)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, h->fortran ? 'F' : 'C');
    for (int i = 0; i < h->rank; i++)
        axe_putf(&b, " %" PRId64, h->shape[i]);
    return b.text;
}

static void
test_good(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(good); i++) {
        axe_ctx       *cx = axe_ctx_new();
        axe_npy_head   h;
        size_t         len;
        unsigned char *b = make_file(cx, good[i].version, good[i].header,
                                     good[i].n_data, &len);
        assert_int_equal(axe_npy_parse(cx, "x", b, len, &h), AXE_OK);
        assert_int_equal(h.type, good[i].type);
        assert_string_equal(meaning_of(cx, &h), good[i].meaning);
        assert_int_equal(h.n_bytes, good[i].n_data);
        assert_int_equal(h.data_at + h.n_bytes, len);
        axe_ctx_free(cx);
    }
}

#define H(descr, order, shape)                                                 \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static const struct bad_row {
    const char *header;
    size_t      n_data;
    axe_status  status;
    const char *text;
} bad[] = {
    {H("'<f4'", "False", "(2, 3)"), 23, AXE_ESHAPE,
     "x: truncated: the shape needs 24 bytes of data, the file has 23"},
    {H("'<f4'", "False", "(2, 3)"), 25, AXE_ESHAPE,
     "x: trailing data: the shape needs 24 bytes of data, the file has 25"},
    {H("'>f4'", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: big endian elements ('>f4')"},
    {H("'|O'", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: no tensor has elements of NumPy type '|O'"},
    {H("'<c8'", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: no tensor has elements of NumPy type '<c8'"},
    {H("'<'", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: no tensor has elements of NumPy type '<'"},
    {H("''", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: no tensor has elements of NumPy type ''"},
    {H("'\033[31mf4'", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: no tensor has elements of NumPy type '?[31mf4'"},
    {H("[('a', '<f4')]", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: its elements are records; an array of one number type is needed"},
    {H("'<f4", "False", "(2, 3)"), 24, AXE_ETYPE,
     "x: no tensor has elements of NumPy type '<f4, '"},
    {H("<f4", "False", "(2, 3)"), 24, AXE_ESYNTAX,
     "x: .npy header, byte 20: expected a quoted text, not \"<f4, "
     "'fortran_or\""},
    {H("'<f4'", "Maybe", "(2, 3)"), 24, AXE_ESYNTAX,
     "x: .npy header, byte 44: expected True or False, not \"Maybe, 'shape': "
     "\""},
    {H("'<f4'", "False", "2"), 24, AXE_ESYNTAX,
     "x: .npy header, byte 60: expected a shape in parentheses, not \"2, }\""},
    {H("'<f4'", "False", "(2 3)"), 24, AXE_ESYNTAX,
     "x: .npy header, byte 63: expected ',' or ')', not \"3), }\""},
    {H("'<f4'", "False", "(-1,)"), 24, AXE_ESYNTAX,
     "x: .npy header, byte 61: expected an extent, not \"-1,), }\""},
    {H("'<f4'", "False", "(2, 99999999999999999999)"), 24, AXE_EOVERFLOW,
     "x: an extent of the shape does not fit int64"},
    {H("'<f4'", "False", "(4294967296, 2147483648)"), 24, AXE_EOVERFLOW,
     "x: dimension 0: with extent 4294967296 the size in bytes does not fit "
     "int64"},
    {H("'<f4'", "False", "(0, 9223372036854775807)"), 0, AXE_EOVERFLOW,
     "x: dimension 1: with extent 9223372036854775807 the size in bytes does "
     "not fit int64"},
    {"{'descr': '<f4', 'shape': (2,), }", 8, AXE_ESYNTAX,
     "x: .npy header: key 'fortran_order' is missing"},
    {"{'descr': '<f4', 'descr': '<f4'}", 8, AXE_ESYNTAX,
     "x: .npy header: key 'descr' is there twice"},
    {"{'colour': 1}", 8, AXE_ESYNTAX,
     "x: .npy header: key 'colour' is not of this format"},
    {H("'<f4'", "False", "(2,)") "x", 8, AXE_ESYNTAX,
     "x: .npy header, byte 67: expected the end of the header, not \"x\""},
    {"[]", 0, AXE_ESYNTAX, "x: .npy header, byte 10: expected '{', not \"[]\""},
    {"", 0, AXE_ESYNTAX, "x: .npy header, byte 10: expected '{', not \"\""},
};

static void
test_bad(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(bad); i++) {
        axe_ctx       *cx = axe_ctx_new();
        axe_npy_head   h = {.rank = -7};
        size_t         len;
        unsigned char *b = make_file(cx, 1, bad[i].header, bad[i].n_data, &len);
        axe_status     st = axe_npy_parse(cx, "x", b, len, &h);
        assert_string_equal(axe_last_error(cx), bad[i].text);
        assert_int_equal(st, bad[i].status);
        assert_int_equal(h.rank, -7);
        axe_ctx_free(cx);
    }
}

static const struct raw_row {
    const char *bytes;
    size_t      len;
    const char *text;
} raw[] = {
    {"", 0,
     "x: not a .npy file: it does not begin with \\x93NUMPY (it is "
     "empty)"},
    {"hello, world", 12,
     "x: not a .npy file: it does not begin with "
     "\\x93NUMPY"},
    {"\x93NUMPY\x01\x00\x40", 9,
     "x: truncated in its header: 9 bytes, and it has 10 at least"},
    {"\x93NUMPY", 6,
     "x: truncated in its header: 6 bytes, and it has 10 at least"},
    {"\x93NUMP", 5,
     "x: not a .npy file: it does not begin with "
     "\\x93NUMPY"},
    {"\x93NUMPY\x04\x00\x00\x00", 10,
     "x: .npy format 4.0; formats 1 to 3 are "
     "known"},
    {"\x93NUMPY\x01\x00\x40\x00{", 11,
     "x: truncated in its header: 11 of 74 "
     "bytes"},
    {"\x93NUMPY\x02\x00\x40\x00", 10,
     "x: truncated in its header: 10 of 12 "
     "bytes"},
    {"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12,
     "x: truncated in its header: 12 "
     "of 4294967307 bytes"},
};

static void
test_raw(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(raw); i++) {
        axe_ctx      *cx = axe_ctx_new();
        axe_npy_head  h;
        unsigned char bytes[16];
        memcpy(bytes, raw[i].bytes, raw[i].len);
        assert_int_not_equal(axe_npy_parse(cx, "x", bytes, raw[i].len, &h),
                             AXE_OK);
        assert_string_equal(axe_last_error(cx), raw[i].text);
        axe_ctx_free(cx);
    }
}

static void
test_rank(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    axe_npy_head   h;
    unsigned char *b;
    size_t         len;

    (void)state;
    for (int rank = 63; rank <= 66; rank++) {
        axe_buf t = {.cx = cx};
        axe_puts(&t, "{'descr': '|u1', 'fortran_order': False, 'shape': (");
        for (int i = 0; i < rank; i++)
            axe_puts(&t, "1,");
        axe_puts(&t, ")}");
        b = make_file(cx, 1, t.text, 1, &len);
        assert_int_equal(axe_npy_parse(cx, "x", b, len, &h),
                         rank <= 64 ? AXE_OK : AXE_ELIMIT);
    }
    assert_string_equal(axe_last_error(cx), "x: more than 64 dimensions");
    axe_ctx_free(cx);
}

/* Written, then read: the same type, order, shape, strides and bytes. */
static void
round_trip(axe_type type, bool fortran, axe_shape shape)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *path = path_of(cx, "round.npy");
    axe_npy     a, b;

    assert_int_equal(axe_npy_make(cx, "X", type, shape, fortran, &a), AXE_OK);
    assert_int_equal((uintptr_t)a.data % 64, 0);
    for (size_t i = 0; i < a.n_bytes; i++)
        ((unsigned char *)a.data)[i] = (unsigned char)(i * 37 + 1);
    assert_int_equal(axe_npy_write(cx, path, &a), AXE_OK);
    assert_int_equal(axe_npy_read(cx, path, &b), AXE_OK);
    assert_int_equal((uintptr_t)b.data % 64, 0);
    assert_int_equal(b.type, type);
    assert_int_equal(b.rank, shape.n);
    assert_int_equal(b.fortran, fortran);
    assert_int_equal(b.n_bytes, a.n_bytes);
    assert_memory_equal(a.shape, b.shape, sizeof a.shape);
    assert_memory_equal(a.stride, b.stride, sizeof a.stride);
    assert_memory_equal(a.data, b.data, a.n_bytes);
    axe_npy_free(&a);
    axe_npy_free(&b);
    unlink(path);
    axe_ctx_free(cx);
}

static void
test_round_trip(void **state)
{
    static const int64_t  extent[] = {3, 4, 5};
    static const axe_type type[] = {AXE_TYPE_f64,  AXE_TYPE_f32, AXE_TYPE_f16,
                                    AXE_TYPE_bf16, AXE_TYPE_i64, AXE_TYPE_i32,
                                    AXE_TYPE_i16,  AXE_TYPE_i8,  AXE_TYPE_u32,
                                    AXE_TYPE_u16,  AXE_TYPE_u8,  AXE_TYPE_bool};

    (void)state;
    for (int t = 0; t < AXE_LEN(type); t++)
        for (int rank = 0; rank <= 3; rank++)
            for (int fortran = 0; fortran <= 1; fortran++)
                round_trip(type[t], fortran, (axe_shape){rank, extent});
    round_trip(AXE_TYPE_f32, false, (axe_shape){3, (const int64_t[]){3, 0, 5}});
}

/* Two to a byte: in a file, bytes; half as many where neighbours lie. */
static void
test_fourths(void **state)
{
    static const int64_t extent[] = {6, 4, 8};
    static const int64_t stride[2][3] = {{32, 8, 1}, {1, 6, 24}};

    (void)state;
    for (int fortran = 0; fortran <= 1; fortran++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *path = path_of(cx, "fourths.npy");
        int         near = fortran ? 0 : 2;
        axe_npy     a, b;
        assert_int_equal(axe_npy_make(cx, "X", AXE_TYPE_f4e2m1,
                                      (axe_shape){3, extent}, fortran, &a),
                         AXE_OK);
        assert_int_equal(a.n_bytes, 96);
        assert_memory_equal(a.stride, stride[fortran], sizeof stride[0]);
        for (size_t i = 0; i < a.n_bytes; i++)
            ((unsigned char *)a.data)[i] = (unsigned char)(i * 37 + 1);
        assert_int_equal(axe_npy_write(cx, path, &a), AXE_OK);
        assert_int_equal(axe_npy_read(cx, path, &b), AXE_OK);
        assert_int_equal(b.type, AXE_TYPE_u8);
        for (int i = 0; i < 3; i++)
            assert_int_equal(b.shape[i], extent[i] / (i == near ? 2 : 1));
        axe_npy_see_as(&b, AXE_TYPE_f4e2m1);
        assert_int_equal(b.type, AXE_TYPE_f4e2m1);
        assert_memory_equal(a.shape, b.shape, sizeof extent);
        assert_memory_equal(a.stride, b.stride, sizeof extent);
        assert_memory_equal(a.data, b.data, a.n_bytes);
        axe_npy_free(&a);
        axe_npy_free(&b);
        unlink(path);
        assert_int_equal(axe_npy_make(cx, "X", AXE_TYPE_f4e2m1,
                                      (axe_shape){2, (const int64_t[]){3, 5}},
                                      fortran, &a),
                         AXE_EUNSUPPORTED);
        assert_string_equal(axe_last_error(cx),
                            fortran ? "an array of f4e2m1 with 3 neighbours in "
                                      "a row: 2 lie in a byte"
                                    : "an array of f4e2m1 with 5 neighbours in "
                                      "a row: 2 lie in a byte");
        axe_ctx_free(cx);
    }
}

static void
test_strides(void **state)
{
    static const int64_t extent[] = {3, 4, 5};
    static const int64_t c[] = {20, 5, 1}, f[] = {1, 3, 12};
    axe_ctx             *cx = axe_ctx_new();
    axe_npy              a;

    (void)state;
    assert_int_equal(
        axe_npy_make(cx, "X", AXE_TYPE_f32, (axe_shape){3, extent}, false, &a),
        AXE_OK);
    assert_memory_equal(a.stride, c, sizeof c);
    axe_npy_free(&a);
    assert_int_equal(
        axe_npy_make(cx, "X", AXE_TYPE_f32, (axe_shape){3, extent}, true, &a),
        AXE_OK);
    assert_memory_equal(a.stride, f, sizeof f);
    axe_npy_free(&a);
    axe_ctx_free(cx);
}

/* A header that NumPy does not write: the data lies at byte 67. */
static void
test_unaligned(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    const char    *path = path_of(cx, "odd.npy");
    size_t         len;
    unsigned char *b = make_file(cx, 1, H("'<f4'", "False", "(2,)"), 8, &len);
    axe_npy        a;
    FILE          *f = fopen(path, "wb");

    (void)state;
    memcpy(b + len - 8, "abcdefgh", 8);
    assert_non_null(f);
    assert_int_equal(fwrite(b, 1, len, f), len);
    fclose(f);
    assert_int_not_equal((len - 8) % 64, 0);
    assert_int_equal(axe_npy_read(cx, path, &a), AXE_OK);
    assert_int_equal((uintptr_t)a.data % 64, 0);
    assert_memory_equal(a.data, "abcdefgh", 8);
    axe_npy_free(&a);
    unlink(path);
    axe_ctx_free(cx);
}

static void
test_sizes(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_npy  a;

    (void)state;
    assert_int_equal(
        axe_npy_make(cx, "X", AXE_TYPE_f32,
                     (axe_shape){2, (const int64_t[]){INT64_MAX, 2}}, false,
                     &a),
        AXE_EOVERFLOW);
    assert_int_equal(axe_npy_make(cx, "X", AXE_TYPE_u8,
                                  (axe_shape){1, (const int64_t[]){INT64_MAX}},
                                  false, &a),
                     AXE_EARG);
    assert_string_equal(axe_last_error(cx), "X: no memory for an array of "
                                            "9223372036854775807 bytes");
    assert_int_equal(axe_npy_make(cx, "X", AXE_TYPE_i4,
                                  (axe_shape){1, (const int64_t[]){2}}, false,
                                  &a),
                     AXE_EUNSUPPORTED);
    axe_ctx_free(cx);
}

static int
count_files(void)
{
    char  command[64];
    int   n = -1;
    FILE *p;

    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

/* No folder, a folder in the way: said, and nothing is left. */
static void
test_failed_write(void **state)
{
    static const int64_t extent[] = {1 << 20};
    axe_ctx             *cx = axe_ctx_new();
    axe_npy              a;

    (void)state;
    assert_int_equal(
        axe_npy_make(cx, "X", AXE_TYPE_f32, (axe_shape){1, extent}, false, &a),
        AXE_OK);
    assert_int_equal(axe_npy_write(cx, path_of(cx, "no/x.npy"), &a), AXE_EIO);
    assert_int_equal(axe_npy_write(cx, folder, &a), AXE_EIO);
    a.type = AXE_TYPE_tf32;
    assert_int_equal(axe_npy_write(cx, path_of(cx, "x.npy"), &a), AXE_ETYPE);
    assert_int_equal(count_files(), 0);
    axe_npy_free(&a);
    axe_ctx_free(cx);
}

/* The disk is full halfway: a limit on the size of files stands for it. */
static void
test_full_disk(void **state)
{
    static const int64_t extent[] = {1 << 20};
    axe_ctx             *cx = axe_ctx_new();
    const char          *path = path_of(cx, "full.npy");
    struct rlimit        old, small;
    axe_npy              a, b;

    (void)state;
    assert_int_equal(
        axe_npy_make(cx, "X", AXE_TYPE_u8, (axe_shape){1, extent}, false, &a),
        AXE_OK);
    assert_int_equal(axe_npy_write(cx, path, &a), AXE_OK);
    memset(a.data, 7, a.n_bytes);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1 << 16;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    axe_status st = axe_npy_write(cx, path, &a);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(st, AXE_EIO);
    assert_non_null(strstr(axe_last_error(cx), "cannot write: File too large"));
    assert_int_equal(count_files(), 1);
    assert_int_equal(axe_npy_read(cx, path, &b), AXE_OK);
    assert_int_equal(((unsigned char *)b.data)[1000000], 0);
    unlink(path);
    axe_npy_free(&a);
    axe_npy_free(&b);
    axe_ctx_free(cx);
}

/* A device is written, never renamed over.  The device is a copy of /dev/full
 * of our own: were this broken and we root, the system's would be lost. */
static void
test_device(void **state)
{
    static const int64_t extent[] = {1 << 20};
    axe_ctx             *cx = axe_ctx_new();
    const char          *path = path_of(cx, "full");
    struct stat          s;
    int                  fd = -1;
    axe_npy              a;

    (void)state;
    if (mknod(path, S_IFCHR | 0600, makedev(1, 7)) == 0)
        fd = open(path, O_WRONLY);
    if (fd >= 0) {
        close(fd);
        assert_int_equal(axe_npy_make(cx, "X", AXE_TYPE_u8,
                                      (axe_shape){1, extent}, false, &a),
                         AXE_OK);
        assert_int_equal(axe_npy_write(cx, path, &a), AXE_EIO);
        assert_non_null(strstr(axe_last_error(cx),
                               "cannot write: No space left on device"));
        assert_int_equal(count_files(), 1);
        assert_int_equal(stat(path, &s), 0);
        assert_true(S_ISCHR(s.st_mode));
        axe_npy_free(&a);
    }
    unlink(path);
    axe_ctx_free(cx);
}

static void
test_failed_read(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_npy  a;

    (void)state;
    assert_int_equal(axe_npy_read(cx, path_of(cx, "none.npy"), &a), AXE_EIO);
    assert_non_null(strstr(axe_last_error(cx),
                           "none.npy: cannot open: No such file or directory"));
    assert_int_equal(axe_npy_read(cx, folder, &a), AXE_EIO);
    assert_non_null(strstr(axe_last_error(cx), "cannot read: Is a directory"));
    assert_int_equal(axe_npy_read(cx, "/dev/null", &a), AXE_ESYNTAX);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_raw),         cmocka_unit_test(test_rank),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_strides),
        cmocka_unit_test(test_fourths),     cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_failed_write),
        cmocka_unit_test(test_failed_read), cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_device),
    };
    int code;

    if (!mkdtemp(folder))
        return 1;
    code = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return code;
}
