/* ir.h - building kernels by calls instead of text.
 *
 *     axe_builder *b = axe_build_kernel(cx, "double");
 *     const axe_ir_expr *n = axe_build_size(b, "N"), *i;
 *     axe_ir_tensor *x = axe_build_param(b, "in", "f32", "X", 1, &n, NULL);
 *     axe_ir_tensor *y = axe_build_param(b, "out", "f32", "Y", 1, &n, NULL);
 *     const axe_ir_expr *m = axe_build_index(b, "m"), *at;
 *
 *     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", n, 1024}, &i);
 *     at = axe_build_tiled(b, i, 1024, m);
 *     axe_build_assign(b, axe_build_load(b, y, 1, &at), "=",
 *                      axe_build_binary(b, "*", axe_build_load(b, x, 1, &at),
 *                                       axe_build_float(b, "f32", 2)));
 *     axe_build_end(b);
 *     AXE_TRY(axe_build_finish(b, &kernel));
 *
 * What comes out is what the text of the same kernel gives: compile it by
 * axe_compile_kernel, print it by axe_program_emit.  docs/language.md says
 * what the constructs mean; the names of types, spaces, scopes, operators and
 * functions are those of the language.
 *
 * Errors stick: the first one is recorded in the ctx, every later call does
 * nothing and gives NULL, and axe_build_finish returns its status.  So only
 * finish need be checked.  NULL for a handle, a handle of another builder, a
 * block left open or closed twice are errors, too.  A diagnostic's place is
 * the label that was current when the call was made, as in
 *
 *     at builder call `acc_update`: error: ...
 *
 * else the number of the call, axe_build_kernel being the first.  Texts and
 * arrays given are copied.
 *
 * Every name is declared once in a kernel.  Types must match exactly: nothing
 * is widened without axe_build_cast, and constants have the type given.
 * A builder and its handles live as long as the ctx.
 */
#ifndef AXE_PUBLIC_IR_H
#define AXE_PUBLIC_IR_H

#include "axe/base.h"
#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions of a tensor at most. */
enum { AXE_RANK_MAX = 16 };

typedef struct axe_builder     axe_builder;
typedef struct axe_kernel      axe_kernel;
typedef struct axe_ir_expr     axe_ir_expr;
typedef struct axe_ir_tensor   axe_ir_tensor;
typedef struct axe_ir_pipeline axe_ir_pipeline;

/* `name : count`, or with by > 0 `name : count by by`: tiles that cover it. */
typedef struct axe_ir_range {
    const char        *name;
    const axe_ir_expr *count;
    int64_t            by;
} axe_ir_range;

/* ------------------------------------------------------------- a kernel */

/* Begin.  NULL only for a NULL ctx. */
axe_builder *axe_build_kernel(axe_ctx *cx, const char *name);
/* The label of the calls from here on; NULL: none. */
void axe_build_label(axe_builder *b, const char *label);
/* AXE_OK, or what went wrong first; EARG for a NULL builder. */
axe_status axe_build_status(const axe_builder *b);
/* End: all blocks closed, everything verified as axe_compile verifies it.
 * Errors  the first of any call; ETYPE, ESHAPE, ENAME, EUNSUPPORTED of the
 *         kernel as a whole, all recorded */
AXE_CHECK axe_status axe_build_finish(axe_builder *b, const axe_kernel **out);

/* ------------------------------------------------------------ its header */

/* The machine family the kernel is for, as `target` says it. */
void axe_build_target(axe_builder *b, const char *machine);
/* Compile-time parameters, for the record: the IR's text shows them. */
void axe_build_set(axe_builder *b, const char *name, int64_t value);
void axe_build_set_type(axe_builder *b, const char *name, const char *type);
/* A runtime size. */
const axe_ir_expr *axe_build_size(axe_builder *b, const char *name);
/* An argument.
 * dir    "in", "out", "inout"
 * shape  [rank] sizes or positive integers
 * order  "C" (also NULL), "F", "strided", as in axe_compile_spec */
axe_ir_tensor *axe_build_param(axe_builder *b, const char *dir,
                               const char *type, const char *name, int rank,
                               const axe_ir_expr *const *shape,
                               const char               *order);
/* How many workers run the kernel. */
const axe_ir_expr *axe_build_cores(axe_builder *b);
/* A row-major tensor of the kernel's own, shared by all entities and made for
 * one launch; outside all blocks.
 * shape  as of an argument, but shape[0] may be any expression over sizes */
axe_ir_tensor *axe_build_global(axe_builder *b, const char *type,
                                const char *name, int rank,
                                const axe_ir_expr *const *shape);
/* An index variable; statements run over those that they mention. */
const axe_ir_expr *axe_build_index(axe_builder *b, const char *name);

/* ---------------------------------------------------------------- blocks */

/* Blocks hold the statements made until axe_build_end, which closes the
 * innermost one. */

/* kind "cta", "core", "thread", ...; var [n] receives the entity's numbers,
 * NULL on error. */
void axe_build_scope(axe_builder *b, const char *kind, int n,
                     const axe_ir_range *range, const axe_ir_expr **var);
/* Of the scope just opened, one inside another: its entities are those from
 * first[k] on, [n] as many as ranges; the variables still begin at 0. */
void axe_build_from(axe_builder *b, int n, const int64_t *first);
/* Of the scope just opened, as the IR's text says it: "threads", "registers",
 * "cluster", "group" and a number, "persistent", "hilbert" or "deterministic"
 * and 1; "overlap" and 1 for the first scope of a group, 2 for those behind it.
 */
void axe_build_key(axe_builder *b, const char *key, int64_t value);
/* Scopes of different threads, one for each role, side by side. */
void axe_build_roles(axe_builder *b);
/* What the entities of the scope around do one after the other. */
void               axe_build_turn(axe_builder *b);
const axe_ir_expr *axe_build_for(axe_builder *b, axe_ir_range range);
/* Again and again until axe_build_break; `while (c)` is a loop that begins with
 * a break under `!c`. */
void axe_build_loop(axe_builder *b);
void axe_build_break(axe_builder *b);
void axe_build_continue(axe_builder *b);
/* All entities of the cta or core scope around, or all workers between scopes,
 * come here before any goes on. */
void axe_build_barrier(axe_builder *b);
/* A bool over sizes, scopes, loops, and scalars (tiles of rank 0) of bool;
 * axe_build_else once, inside. */
void axe_build_if(axe_builder *b, const axe_ir_expr *cond);
void axe_build_else(axe_builder *b);
/* A ring of stages: its block holds tiles only. */
axe_ir_pipeline *axe_build_pipeline(axe_builder *b, const char *name,
                                    int n_stage);
void             axe_build_produce(axe_builder *b, const axe_ir_pipeline *p);
void             axe_build_consume(axe_builder *b, const axe_ir_pipeline *p);
void             axe_build_end(axe_builder *b);

/* ------------------------------------------------------------ statements */

/* A tile of the innermost block, or of the pipeline being declared.
 * space   "reg", "shared", "tmem"
 * rank    0: a scalar, extent NULL
 * extent  [rank]
 * layout  of the same ctx; NULL: the compiler's choice */
axe_ir_tensor *axe_build_tile(axe_builder *b, const char *space,
                              const char *type, const char *name, int rank,
                              const int64_t *extent, const axe_layout *layout);
/* The same in n CTAs that follow each other in a cluster: `auto + [n : 1@cta]`.
 * Of a shared tile whose layout is open. */
void axe_build_copies(axe_builder *b, axe_ir_tensor *tile, int64_t n);
/* tile[...] = value, everywhere. */
void axe_build_fill(axe_builder *b, const axe_ir_tensor *tile,
                    const axe_ir_expr *value);
/* dst op value; dst from axe_build_load; op "=", "+=", "*=", "max=", "min=".
 * An index runs as far as the dimension where it stands alone, or the tile of
 * the range it is in (docs/language.md, 7). */
void axe_build_assign(axe_builder *b, const axe_ir_expr *dst, const char *op,
                      const axe_ir_expr *value);
/* Of the statement made last, as the language writes it: "via" and "map",
 * "atom" and "vfma", "slow" and NULL, "prefetch" and "4", "tile" and "6, 2". */
void axe_build_attribute(axe_builder *b, const char *key, const char *value);

/* ----------------------------------------------------------- expressions */

/* A constant of a type; NULL: an index integer (i64). */
const axe_ir_expr *axe_build_int(axe_builder *b, const char *type,
                                 int64_t value);
const axe_ir_expr *axe_build_float(axe_builder *b, const char *type,
                                   double value);
const axe_ir_expr *axe_build_load(axe_builder *b, const axe_ir_tensor *t, int n,
                                  const axe_ir_expr *const *subscript);
/* "-", "!", "exp", "exp2", "log", "sqrt", "rsqrt", "tanh", "abs" */
const axe_ir_expr *axe_build_unary(axe_builder *b, const char *op,
                                   const axe_ir_expr *x);
/* "+" "-" "*" "/" "%" "==" "!=" "<" "<=" ">" ">=" "&&" "||" "min" "max" "cdiv"
 */
const axe_ir_expr *axe_build_binary(axe_builder *b, const char *op,
                                    const axe_ir_expr *x, const axe_ir_expr *y);
/* cond ? x : y */
const axe_ir_expr *axe_build_select(axe_builder *b, const axe_ir_expr *cond,
                                    const axe_ir_expr *x, const axe_ir_expr *y);
const axe_ir_expr *axe_build_cast(axe_builder *b, const char *type,
                                  const axe_ir_expr *x);
/* fold "sum", "prod", "max", "min" of x over n indices, which then mean
 * nothing outside. */
const axe_ir_expr *axe_build_reduce(axe_builder *b, const char *fold, int n,
                                    const axe_ir_expr *const *index,
                                    const axe_ir_expr        *x);
/* i * by + m, the subscript of element m of tile i. */
const axe_ir_expr *axe_build_tiled(axe_builder *b, const axe_ir_expr *i,
                                   int64_t by, const axe_ir_expr *m);

#ifdef __cplusplus
}
#endif
#endif
