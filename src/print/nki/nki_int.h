/* nki_int.h - what the two dialects of NKI share. */
#ifndef AXE_PRINT_NKI_NKI_INT_H
#define AXE_PRINT_NKI_NKI_INT_H

#include "print/nki/nki.h"
#include "trace/trace.h"

typedef struct nki_dialect nki_dialect;

typedef struct nki_printer {
    axe_buf           *out;
    const axe_trace   *t;
    const axe_kernel  *k;
    const nki_dialect *d;
    int                depth;
    int                loop[64]; /* variables of open loops */
    int               *level;    /* of tensors: loops open at its declaration */
    bool              *begun;    /* of tensors: the text has a product for it */
    bool              *sums;     /* of tensors: a product adds to it */
} nki_printer;

/* Does a product add to what is there? */
typedef enum nki_adds { NKI_NEVER, NKI_ALWAYS, NKI_WHEN } nki_adds;

/* How a dialect writes what they differ in. */
struct nki_dialect {
    const char *head;  /* what it imports, and the decorator */
    const char *range; /* of loops whose counts are Python's numbers */
    void (*access)(nki_printer *p, const axe_trace_access *a);
    /* Elements of rows, one for each partition, which `index` has. */
    void (*rows)(nki_printer *p, const axe_trace_access *a,
                 const axe_trace_access *index);
    void (*declare)(nki_printer *p, const axe_trace_tensor *x, bool sums);
    /* A line for a tensor of device memory, where it begins; NULL: none. */
    void (*begin)(nki_printer *p, const axe_trace_tensor *x);
    void (*instruction)(nki_printer *p, const axe_trace_step *s);
    /* What it cannot say; NULL: it can say all. */
    axe_status (*check)(axe_ctx *cx, const axe_trace *t);
};

extern const nki_dialect nki_03, nki_01;

bool        nki_is_number(const axe_trace_expr *e, int64_t n);
const char *nki_type_name(axe_type t);
void        nki_put_expr(nki_printer *p, const axe_trace_expr *e, int least);
void nki_put_condition(nki_printer *p, const axe_trace_expr *e, bool below);
/* "a:a + n" */
void nki_put_slice(nki_printer *p, const axe_trace_expr *from,
                   const axe_trace_expr *n);
void nki_put_value(nki_printer *p, const axe_trace_value *v);
/* memset's, which is an integer for tiles of integers. */
void nki_put_fill(nki_printer *p, const axe_trace_step *s);
void nki_put_shape(nki_printer *p, const axe_trace_tensor *x);
/* accumulate= of a product, where the trace says it; NULL: it does not. */
const axe_trace_value *nki_said(const axe_trace_step *s);
/* A tensor in device memory as rows of which indices choose: "x", or
 * "x.reshape((rows, length))". */
void nki_put_rows(nki_printer *p, const axe_trace_access *a);
/* Arguments from the first'th on, as keywords in the order of ops.def. */
void nki_put_args(nki_printer *p, const axe_trace_step *s, int first);
/* Is it a slice of a tile's two dimensions? */
bool nki_is_slice(const nki_printer *p, const axe_trace_access *a);
/* "[a:b, c:d]" of such a one. */
void nki_put_slices(nki_printer *p, const axe_trace_access *a);
/* Whether a product adds; where it depends on loops, `when` is the condition.
 */
nki_adds nki_accumulates(nki_printer *p, const axe_trace_step *s,
                         axe_buf *when);
/* Is the loop's variable a condition's, which is run once or not? */
bool nki_is_if(const nki_printer *p, int var);
/* Is the instruction one of several engines'? */
bool nki_has_choice(const axe_trace_step *s);

#endif
