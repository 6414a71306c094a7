/* limits.c - what the machine can do, as peers: multiply-adds in registers, and
 * bytes copied and read in arrays as large as the problem's.
 *
 * The loops are C text compiled for the host, as kernels are, so that they use
 * its widest vectors; each thread of a team does its share. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "run/device.h"
#include "table.h"

enum { N_STEP = 4096, LINE = 64 };

/* $V bytes of a vector, $N accumulators; EACH(x) is x(0) to x(N - 1).  A dot
 * product of narrow types counts where the processor has one; else their peak
 * is that of f32. */
static const char text[] =
    "typedef float f32 __attribute__((vector_size($V), may_alias));\n"
    "typedef double f64 __attribute__((vector_size($V), may_alias));\n"
    "typedef int i32 __attribute__((vector_size($V), may_alias));\n"
    "#define DECLARE(i) a##i = x + i\n"
    "#define FMA(i) a##i = a##i * x + y;\n"
    "#define DOT(i) __asm__(\"vdpbf16ps %1, %1, %0\" : \"+v\"(a##i) : "
    "\"v\"(y));\n"
    "#define DOT8(i) __asm__(\"vpdpbusd %1, %1, %0\" : \"+v\"(a##i) : "
    "\"v\"(y));\n"
    "#define ADD(i) t += a##i;\n"
    "#define LOOP(name, type, step, elements) \\\n"
    "    void name(long n, type *p) { type x = p[0], y = p[1], t = p[2]; \\\n"
    "        type EACH_COMMA(DECLARE); \\\n"
    "        for (long k = 0; k < n; k++) { EACH(step) } \\\n"
    "        EACH(ADD) p[2] = t; } \\\n"
    "    long name##_flops(void) { return 2L * $N * elements; }\n"
    "LOOP(peak_f32, f32, FMA, $V / 4)\n"
    "LOOP(peak_f64, f64, FMA, $V / 8)\n"
    "#ifdef __AVX512BF16__\n"
    "LOOP(peak_bf16, f32, DOT, $V / 2)\n"
    "#else\n"
    "LOOP(peak_bf16, f32, FMA, $V / 4)\n"
    "#endif\n"
    "#ifdef __AVX512VNNI__\n"
    "LOOP(peak_i8, i32, DOT8, $V)\n"
    "#else\n"
    "LOOP(peak_i8, f32, FMA, $V / 4)\n"
    "#endif\n"
    "void copy(f32 *d, const f32 *s, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i += 4) {\n"
    "        f32 a = s[i], b = s[i + 1], c = s[i + 2], e = s[i + 3];\n"
    "        d[i] = a; d[i + 1] = b; d[i + 2] = c; d[i + 3] = e;\n"
    "    }\n"
    "}\n"
    "#if defined __AVX__\n"
    "#define PAST(to, x) __asm__ volatile(\"vmovntps %1, %0\" "
    ": \"=m\"(to) : \"v\"(x));\n"
    "#define FENCE __asm__ volatile(\"sfence\" ::: \"memory\");\n"
    "#else\n"
    "#define PAST(to, x) to = x;\n"
    "#define FENCE\n"
    "#endif\n"
    "void copy_past(f32 *d, const f32 *s, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i += 4) {\n"
    "        f32 a = s[i], b = s[i + 1], c = s[i + 2], e = s[i + 3];\n"
    "        PAST(d[i], a) PAST(d[i + 1], b) PAST(d[i + 2], c)\n"
    "        PAST(d[i + 3], e)\n"
    "    }\n"
    "    FENCE\n"
    "}\n"
    "void read_all(f32 *d, const f32 *s, long n)\n"
    "{\n"
    "    f32 a = {0}, b = a, c = a, e = a, f = a, g = a, h = a, k = a;\n"
    "    for (long i = 0; i < n; i += 8) {\n"
    "        a += s[i]; b += s[i + 1]; c += s[i + 2]; e += s[i + 3];\n"
    "        f += s[i + 4]; g += s[i + 5]; h += s[i + 6]; k += s[i + 7];\n"
    "    }\n"
    "    *d = a + b + c + e + f + g + h + k;\n"
    "}\n";

/* Peak of f32, f64, bf16 and i8, in this order, then the walks over memory. */
enum { N_TYPE = 4 };
static const char *const type_name[N_TYPE] = {"f32", "f64", "bf16", "i8"};

typedef void peak_fn(long n, void *p);
typedef long flops_fn(void);
typedef void walk_fn(void *d, const void *s, long n);

static struct {
    bool      asked, here;
    int       vector_bytes;
    peak_fn  *peak[N_TYPE];
    flops_fn *flops[N_TYPE];
    walk_fn  *copy, *stream, *read;
} fns;

/* The text for this many bytes and accumulators. */
static void
put_text(axe_buf *b, int bytes, int n)
{
    for (int pass = 0; pass < 2; pass++) {
        axe_putf(b, "#define %s(m)", pass ? "EACH_COMMA" : "EACH");
        for (int i = 0; i < n; i++)
            axe_putf(b, "%s m(%d)", i && pass ? "," : "", i);
        axe_puts(b, "\n");
    }
    for (const char *s = text; *s; s++)
        if (*s == '$')
            axe_putf(b, "%d", *++s == 'V' ? bytes : n);
        else
            axe_putc(b, *s);
}

static void *
find(void *handle, const char *name)
{
    return dlsym(handle, name);
}

static void
find_all(void *h)
{
    char name[32];
    struct {
        const char *name;
        walk_fn   **to;
    } walk[] = {{"copy", &fns.copy},
                {"copy_past", &fns.stream},
                {"read_all", &fns.read}};

    for (int i = 0; i < N_TYPE; i++) {
        snprintf(name, sizeof name, "peak_%s", type_name[i]);
        void *f = find(h, name);
        memcpy(&fns.peak[i], &f, sizeof f);
        snprintf(name, sizeof name, "peak_%s_flops", type_name[i]);
        f = find(h, name);
        memcpy(&fns.flops[i], &f, sizeof f);
    }
    for (int i = 0; i < AXE_LEN(walk); i++) {
        void *f = find(h, walk[i].name);
        memcpy(walk[i].to, &f, sizeof f);
    }
}

/* The device is kept: it owns what was loaded. */
static bool
open_limits(axe_ctx *cx)
{
    const axe_machine *mc;
    axe_device        *d;
    axe_buf            b = {.cx = cx};
    const char        *path;
    void              *h;
    bool               cached;

    if (fns.asked)
        return fns.here;
    fns.asked = true;
    if (axe_machine_find(cx, "cpu", &mc) != AXE_OK ||
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &d) != AXE_OK)
        return false;
    fns.vector_bytes = mc->vector_bits / 8;
    put_text(&b, fns.vector_bytes, mc->n_vreg * 3 / 4);
    if (axe_device_load(cx, d, b.text, NULL, &h, &path, &cached) != AXE_OK)
        return false;
    find_all(h);
    axe_device_free(d);
    return fns.here = true;
}

/* ------------------------------------------------------------------- jobs */

typedef struct limit {
    axe_pool *pool;
    peak_fn  *peak;
    walk_fn  *walk;
    double    work;
    size_t    bytes; /* of one array */
    char     *from, *to;
} limit;

static limit *
new_limit(const problem *p)
{
    limit *l = calloc(1, sizeof *l);

    if (l && axe_pool_new(p->cx, p->n_thread, &l->pool) != AXE_OK) {
        free(l);
        l = NULL;
    }
    return l;
}

/* The type whose products a problem sums: that of its first array. */
static int
type_of(const problem *p)
{
    for (int i = 1; i < N_TYPE; i++)
        if (strcmp(p->array[0].type, type_name[i]) == 0)
            return i;
    return 0;
}

static void *
prepare_peak(const problem *p)
{
    int    t = type_of(p);
    limit *l = p->flops > 0 ? new_limit(p) : NULL;

    if (!l)
        return NULL;
    l->peak = fns.peak[t];
    l->work = (double)fns.flops[t]() * N_STEP * p->n_thread;
    return l;
}

static void *
prepare_walk(const problem *p, walk_fn *walk, bool copies)
{
    limit *l = p->flops > 0 ? NULL : new_limit(p);

    if (!l)
        return NULL;
    l->walk = walk;
    l->bytes = (size_t)p->bytes / (copies ? 2 : 1) / (LINE * 64) * (LINE * 64);
    l->work = (double)l->bytes * (copies ? 2 : 1);
    l->from = p->block[0];
    l->to = aligned_alloc(2 << 20, (l->bytes / (2 << 20) + 1) * (2 << 20));
    l->from = aligned_alloc(2 << 20, (l->bytes / (2 << 20) + 1) * (2 << 20));
    memset(l->to, 0, l->bytes);
    memset(l->from, 0, l->bytes);
    return l;
}

/* Copies are for what writes, reading for what does not. */
static bool
only_reads(const problem *p)
{
    return p->written < 0.1 * p->bytes;
}

static void *
prepare_copy(const problem *p)
{
    return only_reads(p) ? NULL : prepare_walk(p, fns.copy, true);
}

static void *
prepare_stream(const problem *p)
{
    return only_reads(p) ? NULL : prepare_walk(p, fns.stream, true);
}

static void *
prepare_read(const problem *p)
{
    return only_reads(p) ? prepare_walk(p, fns.read, false) : NULL;
}

static void
work_share(void *user, int worker)
{
    limit            *l = user;
    _Alignas(64) char regs[3 * 64] = {0};

    if (l->peak) {
        l->peak(N_STEP, regs);
        return;
    }
    size_t n = l->bytes / (size_t)axe_pool_size(l->pool),
           at = n * (size_t)worker;
    l->walk(l->walk == fns.read ? (void *)regs : l->to + at, l->from + at,
            (long)(n / (size_t)fns.vector_bytes));
}

static void
call_limit(void *job)
{
    limit *l = job;

    axe_pool_run(l->pool, work_share, l);
}

static void
done_limit(void *job)
{
    limit *l = job;

    axe_pool_free(l->pool);
    free(l->from);
    free(l->to);
    free(l);
}

static double
work_of(void *job)
{
    return ((limit *)job)->work;
}

#define LIMIT(what)                                                            \
    const peer what##_peer = {.name = #what,                                   \
                              .limit = true,                                   \
                              .open = open_limits,                             \
                              .prepare = prepare_##what,                       \
                              .call = call_limit,                              \
                              .done = done_limit,                              \
                              .work = work_of}

LIMIT(peak);
LIMIT(copy);
LIMIT(stream);
LIMIT(read);
