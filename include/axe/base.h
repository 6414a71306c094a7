/* base.h - what every part may assume: status codes, the context with its
 * memory, diagnostics with a place in the source, text, checked integers.
 *
 * One `axe_ctx` owns all memory and all diagnostics of a piece of work.  What
 * is made in it is immutable, lives as long as it and is never freed alone, so
 * there is nothing to clean up on an error path.  A ctx is not thread-safe:
 * use one per thread.
 *
 * A function with a status answers EARG, and says which argument it is, where a
 * pointer that it needs is NULL, a count is below 0 or has no array, a stage is
 * none, or a handle (device, exec, call, reference, GPU) is of another kind.
 * After free it can tell by chance alone; builds under ASan stop there, as they
 * do where a layout or program is used after its ctx.  A ctx that is NULL is
 * EARG without words.
 */
#ifndef AXE_BASE_H
#define AXE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AXE_VERSION "0.1.0"

typedef enum axe_status {
#define STATUS(name, text) AXE_##name,
#include "axe/status.def"
    AXE_N_STATUS
} axe_status;

/* "ESHAPE", and what it stands for.  Never NULL. */
const char *axe_status_name(axe_status s);
const char *axe_status_text(axe_status s);

#if defined(__GNUC__)
#define AXE_CHECK __attribute__((warn_unused_result))
#define AXE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define AXE_CHECK
#define AXE_PRINTF(f, a)
#endif

/* Return from the calling function if `expr` failed.  Use only where nothing
 * needs undoing: with arenas that is nearly everywhere. */
#define AXE_TRY(expr)                                                          \
    do {                                                                       \
        axe_status st_ = (expr);                                               \
        if (st_ != AXE_OK)                                                     \
            return st_;                                                        \
    } while (0)

#define AXE_LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ------------------------------------------------------------ the context */

typedef struct axe_ctx axe_ctx;

/* NULL only if the host has no memory for it. */
axe_ctx *axe_ctx_new(void);
void     axe_ctx_free(axe_ctx *cx);

/* Called with `user` and the wanted size when the arena cannot grow.  It must
 * not return; the default writes one line to stderr and aborts. */
typedef void axe_oom_fn(void *user, size_t n_bytes);
void         axe_ctx_on_oom(axe_ctx *cx, axe_oom_fn *fn, void *user);

/* Zeroed memory, aligned for any type, that lives as long as the ctx.  Never
 * NULL, so no caller checks. */
void *axe_alloc(axe_ctx *cx, size_t n_bytes);

#define axe_new(cx, type) ((type *)axe_alloc((cx), sizeof(type)))
#define axe_new_array(cx, type, n)                                             \
    ((type *)axe_alloc((cx), (size_t)(n) * sizeof(type)))
#define axe_new_flex(cx, type, member, n)                                      \
    ((type *)axe_alloc((cx),                                                   \
                       offsetof(type, member) +                                \
                           (size_t)(n) * sizeof(((type *)0)->member[0])))

/* A point in the life of the arena and of the list of diagnostics.
 * axe_release gives back everything allocated, and drops every diagnostic
 * recorded, since the mark; interned text, axes and units stay.  Marks nest.
 * This is how a planner asks "would this fit?" without a trace, and how a
 * server runs for ever in constant memory.
 * Cost: a few instructions; blocks are kept for reuse. */
typedef struct axe_mark {
    void  *block;
    size_t used;
    void  *diag;
    int    n_error;
} axe_mark;

axe_mark axe_ctx_mark(const axe_ctx *cx);
void     axe_ctx_release(axe_ctx *cx, axe_mark m);

/* Bytes held in arena blocks, for tests and benchmarks. */
size_t axe_ctx_bytes(const axe_ctx *cx);

/* ------------------------------------------------------------ diagnostics */

/* A place in a registered source text.  line and col count from 1, in bytes;
 * line 0 means nowhere in the text; with a source its name says where, and col,
 * unless 0, is a number that belongs to it.  len: how many bytes to underline.
 */
typedef struct axe_span {
    int32_t source, line, col, len;
} axe_span;
#define AXE_NOWHERE ((axe_span){0, 0, 0, 0})

/* Register a text under a name, for carets in diagnostics.  Both are copied.
 * Returns its number, from 1. */
int32_t axe_source_add(axe_ctx *cx, const char *name, const char *text,
                       size_t len);
/* The name given; "" for 0. */
const char *axe_source_name(const axe_ctx *cx, int32_t source);

typedef enum axe_severity {
    AXE_ERROR,
    AXE_WARNING,
    AXE_NOTE,
    AXE_HELP
} axe_severity;

typedef struct axe_diag axe_diag;
struct axe_diag {
    axe_severity    severity;
    axe_status      code;
    axe_span        at;
    const char     *text;
    const axe_diag *next; /* in order of recording; notes follow their error */
};

/* Record an error and return `code`, so that callers write
 * `return axe_fail(...)`.  The text says what, with which values, and why. */
axe_status axe_fail(axe_ctx *cx, axe_span at, axe_status code, const char *fmt,
                    ...) AXE_PRINTF(4, 5);
void axe_warn(axe_ctx *cx, axe_span at, const char *fmt, ...) AXE_PRINTF(3, 4);
/* Add to the diagnostic recorded last: a fact, or a way out. */
void axe_note(axe_ctx *cx, axe_span at, const char *fmt, ...) AXE_PRINTF(3, 4);
void axe_help(axe_ctx *cx, const char *fmt, ...) AXE_PRINTF(2, 3);

const axe_diag *axe_diags(const axe_ctx *cx);   /* first, or NULL */
int             axe_n_error(const axe_ctx *cx); /* errors recorded */
/* Text of the latest error, "" if none. */
const char *axe_last_error(const axe_ctx *cx);

/* --------------------------------------------------------- text and names */

char *axe_textf(axe_ctx *cx, const char *fmt, ...) AXE_PRINTF(2, 3);

/* The one copy of this text in the ctx: equal texts give equal pointers. */
const char *axe_intern(axe_ctx *cx, const char *text, size_t len);

/* Growing text in ctx memory; start with {.cx = cx}. */
typedef struct axe_buf {
    axe_ctx *cx;
    char    *text; /* NUL-terminated once anything was put */
    size_t   len, cap;
} axe_buf;

void axe_putc(axe_buf *b, char c);
void axe_puts(axe_buf *b, const char *s);
void axe_putn(axe_buf *b, const char *s, size_t n);
void axe_putf(axe_buf *b, const char *fmt, ...) AXE_PRINTF(2, 3);

/* Text from outside for a terminal: what would move its cursor, change its
 * colours or is no UTF-8 becomes dots; tabs, and newlines if `lines`, stay. */
void axe_put_plain(axe_buf *b, const char *s, size_t n, bool lines);
/* The same of one name, in ctx memory. */
const char *axe_text_plain(axe_ctx *cx, const char *s);

/* Print all diagnostics with their source lines and carets, as
 *
 *     gemm.axe:17:13: error: ...
 *        17 |   acc[m, n] += ...
 *           |                ^~~
 *       note: ...
 *       help: ...
 */
void axe_diags_print(axe_ctx *cx, axe_buf *out, bool color);

/* The same of errors, with the notes and the help behind them, alone. */
void axe_errors_print(axe_ctx *cx, axe_buf *out);

/* Of `n` names the one nearest to `name` by edit distance, or NULL if none is
 * near enough to suggest; of equally near ones the last that begins with it,
 * else the first.  To one letter near is the same in the other case alone. */
const char *axe_nearest(const char *name, int n, const char *const *names);

/* ------------------------------------------------------- checked integers */

/* out = a op b; false, with *out unspecified, if it does not fit. */
static inline bool
axe_add(int64_t a, int64_t b, int64_t *out)
{
#if defined(__GNUC__)
    return !__builtin_add_overflow(a, b, out);
#else
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *out = a + b;
    return true;
#endif
}

static inline bool
axe_mul(int64_t a, int64_t b, int64_t *out)
{
#if defined(__GNUC__)
    return !__builtin_mul_overflow(a, b, out);
#else
    if (a != 0 &&
        (b > 0 ? a > INT64_MAX / b || a < INT64_MIN / b
               : b < 0 && (a > 0 ? b < INT64_MIN / a : a < INT64_MAX / b)))
        return false;
    *out = a * b;
    return true;
#endif
}

int64_t axe_gcd(int64_t a, int64_t b); /* >= 0; gcd(0, 0) = 0 */

#ifdef __cplusplus
}
#endif
#endif
