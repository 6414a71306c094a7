/* sys.h - between the files of this folder.
 *
 * A trace is written as text and read again, so that what it is has one
 * definition.  Numbers in it are expressions of sizes and loops: `sys_ex`.
 *
 * A statement's indices are bound one after the other: one goes over
 * partitions (P), 128 values at a time; one along them (F), in chunks; the
 * others are loops.  Extents are what is inside of the tensors (domain.c), so
 * what is left of a tile is min(128, left). */
#ifndef AXE_LOWER_SYSTOLIC_SYS_H
#define AXE_LOWER_SYSTOLIC_SYS_H

#include "lower/systolic/systolic.h"
#include "plan/systolic/systolic.h"

/* A number of the trace: text, or if that is NULL the constant. */
typedef struct sys_ex {
    const char *t;
    int64_t     c;
    int         level; /* of the text: 1 sum, 2 product, 3 neither */
    int64_t     most;  /* it is no more than that; INT64_MAX: not known */
} sys_ex;

static inline bool
sys_is(sys_ex e, int64_t c)
{
    return !e.t && e.c == c;
}

/* An expression that has a name, until the block at `depth` closes. */
typedef struct sys_let {
    const char *text;
    sys_ex      name;
    int         depth;
} sys_let;

/* How an index of the statement at hand is bound. */
typedef struct sys_bind {
    const axe_var *v;
    sys_ex         base, count; /* values base .. base + count - 1 */
    sys_ex         block;       /* P: base / 128 */
} sys_bind;

/* What tensors' dimensions and statements' indices have in common, and how far
 * both go (domain.c). */
typedef struct sys_class {
    const axe_node *limit; /* NULL: as far as they are declared */
    bool            open;  /* limits that differ, or that may not be taken */
} sys_class;

typedef enum sys_kind { SYS_NUMBER, SYS_TILE } sys_kind;

/* A value of one pass over P and F. */
typedef struct sys_val {
    sys_kind    kind;
    double      number;
    const char *name; /* a tile's, at `off`, `step` apart along F */
    sys_ex      off, step;
    axe_type    type;
    bool        psum, column; /* column: the same along F */
} sys_val;

/* A value that is at hand, until the loop `depth` closes. */
typedef struct sys_known {
    const axe_node *node;
    bool            column;
    int             depth;
    sys_val         val;
} sys_known;

enum {
    SYS_MAX_BIND = 16,
    SYS_MAX_KNOWN = 64,
    SYS_MAX_LET = 64,
    SYS_MAX_DEPTH = 32,
    SYS_CHUNK = 512,
    SYS_STORED = 4 /* places of what transfers take from */
};

typedef struct sys {
    axe_ctx          *cx;
    const axe_plan   *plan;
    const axe_kernel *k;
    axe_buf           out;
    int               depth;
    int               n_name;
    const char *turn[SYS_MAX_DEPTH]; /* the loops' variables; NULL: an if */
    const char *now[SYS_MAX_DEPTH];  /* of a loop with several turns under way:
                                        the turn at hand; else NULL */
    int64_t      turns[SYS_MAX_DEPTH]; /* how many they have at most */
    const char **var;   /* by id: a scope's, loop's or size's text */
    const char **name;  /* by tensor id: what the trace calls it */
    sys_ex      *place; /* by tensor id: [elements] where in it this turn's
                           is, of a loop with two of them under way */
    int         *since; /* by tensor id: the depth at which its turn begins */
    bool        *begun; /* by tensor id: a product of this turn is in it */
    const char **sum;   /* by index statement's id: the tile that has the sums
                           of its values (plan/systolic/fuse.c) */
    int       *up;      /* domain.c */
    sys_class *cls;
    bool      *some;         /* beyond.c, by tensors' dimensions: beyond the end
                                may be other than zeros */
    const axe_stmt *s;       /* at hand */
    const axe_node *summing; /* its value, which is added up on the way; or NULL
                              */
    int             n_bind;
    sys_bind        bind[SYS_MAX_BIND];
    const sys_bind *P, *F;
    int64_t         temp, high; /* next free byte of SBUF; and the most of
                                   the statement */
    int        n_bank[2];       /* asked for so far: turns begin apart */
    int        n_known;
    sys_known  known[SYS_MAX_KNOWN];
    int        n_let;
    sys_let    let[SYS_MAX_LET];
    double     busy[AXE_TRN_N_ENGINE]; /* [elements / GHz] so far */
    axe_status st;
} sys;

/* ex.c */
sys_ex      sys_c(int64_t c);
sys_ex      sys_name(const char *t);
sys_ex      sys_add(sys *s, sys_ex a, sys_ex b);
sys_ex      sys_sub(sys *s, sys_ex a, sys_ex b);
sys_ex      sys_mul(sys *s, sys_ex a, sys_ex b);
sys_ex      sys_div(sys *s, sys_ex a, sys_ex b); /* of numbers from 0 */
sys_ex      sys_mod(sys *s, sys_ex a, sys_ex b);
sys_ex      sys_min(sys *s, sys_ex a, sys_ex b);
sys_ex      sys_max(sys *s, sys_ex a, sys_ex b);
sys_ex      sys_up(sys *s, sys_ex a, int64_t by); /* a / by, rounded up */
const char *sys_text(sys *s, sys_ex e);

/* number.c */
const sys_bind *sys_bound(const sys *s, const axe_var *v);
/* Of indices what they are bound to begin with. */
sys_ex sys_of(sys *s, const axe_node *n);
/* 1 where the condition holds, else 0. */
sys_ex sys_cond(sys *s, const axe_node *n, bool no);

/* emit.c */
void sys_line(sys *s, const char *fmt, ...) AXE_PRINTF(2, 3);
void sys_fail(sys *s, axe_span at, const char *help, const char *fmt, ...)
    AXE_PRINTF(4, 5);
/* Of a tensor of the kernel, without points; of a number or tile on the way:
 * names that nothing else of the kernel has. */
const char *sys_own_name(sys *s, const char *name);
const char *sys_new_name(sys *s, const char *stem);
/* Opens a loop, unless it runs once; its variable, 0 if there is none. */
sys_ex sys_for(sys *s, const char *stem, sys_ex count, bool *opened);
/* The number by a name, if it is not a simple one. */
sys_ex sys_named(sys *s, const char *stem, sys_ex e);
void   sys_if(sys *s, sys_ex count, bool *opened); /* 0 or 1 times */
void   sys_end(sys *s, bool opened);
/* n places, by turns, of the innermost loop: "i % 2", or 0. */
sys_ex sys_turn(sys *s, int n);
/* A statement: nothing is bound or at hand. */
void sys_begin(sys *s, const axe_stmt *st);
/* A tile of SBUF for the statement at hand, at two places by turns. */
sys_val sys_temp(sys *s, axe_type type, int64_t cols);
/* The same at n places, or as many as there is room for. */
sys_val sys_temps(sys *s, axe_type type, int64_t cols, int n);
/* A bank of PSUM: 0 for sums, 1 for what is turned. */
sys_val sys_bank(sys *s, axe_type type, int which);
/* Declares the tile; _all: with all its places. */
void sys_declare(sys *s, const axe_tensor *t);
void sys_declare_all(sys *s, const axe_tensor *t);
/* The tile's access, of so many partitions and elements. */
const char *sys_put(sys *s, const sys_val *v, sys_ex parts, sys_ex cols);
/* dst = src, by the engine with the least work. */
void sys_copy(sys *s, const sys_val *dst, const sys_val *src, sys_ex parts,
              sys_ex cols);

/* domain.c */
void sys_domains(sys *s);
/* How far the index goes in the statement. */
sys_ex sys_extent(sys *s, const axe_stmt *st, const axe_var *v);
/* beyond.c: v + rest is the subscript: rest, or NULL. */
const axe_node *sys_rest_of(sys *s, const axe_node *sub, const axe_var *v);
/* Does v + rest end where dimension d does, for all the index's values? */
bool            sys_ends_there(const axe_stmt *st, const axe_node *load, int d,
                               const axe_var *v, const axe_node *rest);
const axe_node *sys_declared(const axe_stmt *st, const axe_var *v);
/* Does the statement's index keep to where dimension d of the load, of global
 * memory, has elements? */
bool sys_inside(sys *s, const axe_node *load, int d);
/* Does the index, alone in dimension d of the load, meet its end? */
bool sys_ends_at(sys *s, const axe_stmt *st, const axe_node *load, int d,
                 const axe_var *v);

/* beyond.c */
static inline int
sys_dim(const axe_tensor *t, int d)
{
    return t->id * AXE_SYSTOLIC_RANK + d;
}
void sys_mark_zeros(sys *s);
/* Is the value zero where the index is beyond the end? */
bool sys_vanishes(sys *s, const axe_stmt *st, const axe_node *n,
                  const axe_var *v);
/* May the tile end at the limit, which is of loops around? */
bool sys_is_settled(sys *s, const axe_node *limit, const axe_tensor *t);

/* bind.c */
sys_ex    sys_parts(const sys *s);
sys_ex    sys_cols(const sys *s);
sys_bind *sys_bind_to(sys *s, const axe_var *v, sys_ex base, sys_ex count);
/* Of e values in blocks of `most` that which begins with `base`; not opened:
 * there is one block. */
sys_ex sys_rest(sys *s, sys_ex e, sys_ex base, int64_t most, bool opened);
/* The statement's index in blocks of `by` values: a loop, if there are more. */
sys_bind *sys_bind_blocks(sys *s, const axe_var *v, int64_t by, bool *opened);
/* Loops of n indices that are neither P nor F. */
int  sys_open(sys *s, int n, const axe_dim *dim, bool *opened);
void sys_close(sys *s, int n_opened, const bool *opened, int n_bind);

/* area.c */
/* Elements of an access in device memory. */
typedef struct sys_area {
    sys_ex off, ps, fs, parts, cols;
    sys_ex p0, f0; /* of P and F, so many are before the tensor's begin */
    int    n_if;
    bool   opened[AXE_SYSTOLIC_RANK];
} sys_area;

static inline bool
sys_names(const axe_node *n, const sys_bind *b)
{
    return b && axe_mentions(n, b->v);
}
/* Elements from one value of b to the next, where step[d] are between those of
 * dimension d; which must be affine, unless the step is 0. */
sys_ex sys_step_of(sys *s, const axe_node *load, const sys_bind *b,
                   const sys_ex *step);
sys_ex sys_offset_of(sys *s, const axe_node *load, const sys_ex *step);
/* The area, and the conditions under which it has elements.
 * from  the first dimension that moves `off`, `ps` and `fs` */
void sys_area_open(sys *s, const axe_node *load, int from, sys_area *a);
void sys_area_close(sys *s, sys_area *a);
/* The tile's elements that are in the area. */
const char *sys_area_part(sys *s, const sys_val *v, const sys_area *a);
/* Zeros where the access may leave the tensor: nowhere, if all is inside. */
void sys_fill_outside(sys *s, const axe_node *load, const sys_val *dst);

/* gather.c */
/* Is the place of the element computed of other elements? */
bool sys_is_gather(const axe_node *load);
/* Such elements into a tile of SBUF, zeros where there are none. */
void sys_gather(sys *s, const axe_node *load, const sys_val *dst);
/* The statement, if it copies rows into a tile that has them turned: whole rows
 * at a time, which are turned by blocks.  False: it does not. */
bool sys_gather_copy(sys *s, const axe_stmt *st, const axe_var *part,
                     const axe_var *along);
/* Does the kernel read the tensor only in subscripts, and may it be there? */
bool sys_is_index(const sys *s, const axe_tensor *t);

/* access.c */
typedef enum sys_fit { SYS_FITS, SYS_TURNED, SYS_APART } sys_fit;
/* The access with P and F as they are bound.  TURNED: with both exchanged it
 * would fit. */
sys_fit sys_access(sys *s, const axe_node *load, sys_val *out);

/* memory.c */
/* dst[p, f ..] = src[.., p], n_f of them, by the tensor engine. */
void sys_transpose(sys *s, const sys_val *src, const sys_val *dst, sys_ex f,
                   sys_ex n_f, sys_ex n_p);
/* From device memory into a tile of SBUF, and back. */
void sys_fetch_memory(sys *s, const axe_node *load, const sys_val *dst);
void sys_store(sys *s, const axe_node *dst, const sys_val *v);

/* fetch.c */
/* The access, moved and turned as needed: in SBUF, or where it lies. */
sys_val sys_fetch(sys *s, const axe_node *load);
/* So into a tile of SBUF. */
void sys_fetch_into(sys *s, const axe_node *load, const sys_val *dst);

/* arith.c */
sys_val sys_number(double x);
void    sys_unable(sys *s, const axe_node *n);
/* Columns of F that a value has, at most. */
int64_t sys_width(const sys *s, bool column);
/* Where a value goes: what is wanted, or a new tile. */
sys_val sys_result(sys *s, const sys_val *want, bool column);
sys_val sys_as_tile(sys *s, sys_val v, bool column);
/* f(a, b), element by element. */
sys_val sys_both(sys *s, const char *f, sys_val a, sys_val b,
                 const sys_val *want);
/* Of one operation of n chunks: how long the engine is busy. */
void        sys_busy(sys *s, axe_trn_engine e, double n);
const char *sys_all(sys *s, const sys_val *v);
/* One number for each partition, as operands of two tiles want it. */
const char *sys_column(sys *s, sys_val v);
sys_val     sys_inverse(sys *s, sys_val b, const sys_val *want); /* 1 / b */

/* value.c */
sys_val sys_value(sys *s, const axe_node *n, const sys_val *want);
/* Can the instruction that computes it add up what it computes along F? */
bool sys_adds_up(const axe_node *n);
void sys_spread(sys *s, const sys_val *to, const sys_val *v);

/* choose.c */
sys_val sys_choose(sys *s, const axe_node *n, sys_val x, sys_val y,
                   const sys_val *want);

/* map.c */
void sys_map(sys *s, const axe_stmt *st);

/* contract.c */
void sys_contract(sys *s, const axe_stmt *st, const axe_systolic_product *pr);

#endif
