/* ir.h - kernels: expressions, tensors, statements.
 *
 * A kernel is specialised: its compile-time parameters are constants already.
 * What stays open is sizes of global tensors (variables of kind SIZE) and
 * layouts (NULL: to be inferred; what the planner chooses is in its plan).
 * Everything is immutable once made.
 *
 * The one collective operator is the index statement,
 *
 *     dst[subscripts] op= value      over a domain of index variables
 *
 * see AXE_STMT_INDEX.  Subscripts are integer expressions, as axe_subscript_of
 * reads them.  Reading outside a global
 * tensor's shape gives zero, writing there does nothing; subscripts of tiles
 * must be inside.
 */
#ifndef AXE_IR_H
#define AXE_IR_H

#include "axe/base.h"
#include "axe/ir.h"
#include "axe/layout.h"

typedef enum axe_type {
#define TYPE(name, bits, class, accum, npy) AXE_TYPE_##name,
#include "ir/types.def"
    AXE_N_TYPE
} axe_type;

typedef enum axe_type_class {
    AXE_CLASS_FLOAT,
    AXE_CLASS_INT,
    AXE_CLASS_UINT,
    AXE_CLASS_BOOL
} axe_type_class;

typedef struct axe_type_info {
    const char    *name;
    int            bits;
    axe_type_class cls;
    axe_type       accum;
    const char    *npy;
} axe_type_info;

extern const axe_type_info axe_type_table[AXE_N_TYPE];

bool axe_type_find(const char *name, axe_type *out);
bool axe_type_is_float(axe_type t);
/* Is every value of `from`, which is of one class, a value of `to`? */
bool axe_type_widens(axe_type from, axe_type to);
/* Is v a value of the integer type t?  Always true of floats. */
bool axe_type_fits(axe_type t, int64_t v);
/* Elements of the type in a byte: 2 of 4 bits, else 1. */
int axe_type_per_byte(axe_type t);
/* Bytes of n elements, or from the first to number n; of 4 bits, those before
 * the byte that has it. */
int64_t axe_type_bytes(axe_type t, int64_t n);
/* The largest finite value of a floating type. */
double axe_type_max(axe_type t);

/* What the readers accept, so that no walk over a tree can be too deep:
 * operations in one expression, nested blocks or brackets. */
enum { AXE_EXPR_MAX = 2000, AXE_NEST_MAX = 100 };

/* The word of bitcast(T)(x). */
#define AXE_BITCAST "bitcast"

/* The type of index expressions, and how large one may be: twice that, and so
 * the difference of two, is an int64. */
#define AXE_TYPE_INDEX AXE_TYPE_i64
#define AXE_INDEX_MOST (INT64_C(1) << 62)

typedef enum axe_op {
#define OP(name, args, traits, text, ulp) AXE_OP_##name,
#include "ir/ops.def"
    AXE_N_OP
} axe_op;

enum {
    AXE_TRAIT_LEAF = 1,
    AXE_TRAIT_INT = 2,
    AXE_TRAIT_ARITH = 4,
    AXE_TRAIT_CMP = 8,
    AXE_TRAIT_FLOATS = 16,
    AXE_TRAIT_BOOLS = 32,
    AXE_TRAIT_COMM = 64,
    AXE_TRAIT_INTS = 128,
    AXE_TRAIT_TESTS = 256
};

typedef struct axe_op_info {
    const char *name; /* text */
    int         n_arg;
    unsigned    traits;
    double      ulp;
} axe_op_info;

extern const axe_op_info axe_op_table[AXE_N_OP];

/* How values are folded together, in `op=` and in reductions. */
typedef enum axe_fold {
    AXE_FOLD_NONE, /* plain = */
    AXE_FOLD_SUM,  /* +=, sum */
    AXE_FOLD_MUL,  /* *=, prod */
    AXE_FOLD_MAX,  /* max=, max */
    AXE_FOLD_MIN   /* min=, min */
} axe_fold;

typedef struct axe_node     axe_node;
typedef struct axe_var      axe_var;
typedef struct axe_tensor   axe_tensor;
typedef struct axe_stmt     axe_stmt;
typedef struct axe_pipeline axe_pipeline;
/* Of kernels over the devices of a mesh, ir/mesh.h. */
typedef struct axe_shard   axe_shard;
typedef struct axe_held    axe_held;
typedef struct axe_axis_of axe_axis_of;

typedef enum axe_var_kind {
    AXE_VAR_SIZE,  /* a runtime size, >= 0, given at launch */
    AXE_VAR_SCOPE, /* which entity of a scope, 0..extent-1 */
    AXE_VAR_LOOP,  /* 0..extent-1, in order */
    AXE_VAR_INDEX, /* declared by `index`; its extent is the statement's */
    AXE_VAR_PART   /* only in an axe_affine: stands for `extent`, its value */
} axe_var_kind;

struct axe_var {
    axe_var_kind    kind;
    const char     *name; /* interned */
    axe_span        at;
    int             id;     /* unique in the kernel, dense from 0 */
    const axe_node *extent; /* SCOPE, LOOP: number of values; PART: value;
                               else NULL */
    int64_t         least; /* LOOP, made by the lowering: it is at least that */
    const axe_node *limit; /* INDEX, made by a planner: values from here on
                              are not visited; else NULL */
    axe_unit         unit; /* SIZE: the unit of this one symbol */
    const axe_shard *part; /* SIZE: it is this, of each device its own */
    int of_axis;           /* SIZE: 1 + an axis of the mesh: the coordinate of
                              each device along it; else 0 */
    bool    is_fixed;      /* SIZE: it is `fixed` in every launch */
    int64_t fixed;
};

struct axe_node {
    axe_op   op;
    axe_type type;
    axe_span at;
    union {
        int64_t           i;
        double            f;
        const axe_var    *var;
        const axe_tensor *tensor;
        struct {
            axe_fold               fold;
            int                    n_over;
            const axe_var *const  *over;
            const axe_node *const *extent; /* [n_over] */
        } reduce;
    } u;
    int             n_arg;
    const axe_node *arg[];
};

/* The memories that tensors are in, see spaces.def. */
typedef enum axe_space {
#define SPACE(id, word, slow, fast, pitch, operand, owner, room) AXE_SPACE_##id,
#include "ir/spaces.def"
    AXE_N_SPACE
} axe_space;

/* How a space is addressed: by one axis, or `slow` has steps of `pitch` bits.
 */
typedef enum axe_dir {
    AXE_DIR_LOCAL,
    AXE_DIR_IN,
    AXE_DIR_OUT,
    AXE_DIR_INOUT
} axe_dir;
const char *axe_dir_name(axe_dir d); /* "in"; "" for LOCAL */

/* coef * unit elements per step. */
typedef struct axe_stride {
    int64_t  coef;
    axe_unit unit;
} axe_stride;

struct axe_tensor {
    const char *name; /* interned; "ring.a" in a pipeline */
    axe_span    at;
    int         id; /* unique in the kernel, dense from 0 */
    axe_space   space;
    axe_type    type;
    axe_dir     dir;
    int         rank;
    const axe_node *const
                     *shape;  /* global: sizes or constants; else constants */
    const axe_stride *stride; /* global: [rank]; else NULL */
    bool              packed; /* global: laid out for the machine, see
                                 plan/access/packed.c */
    const axe_layout *layout; /* tile: as declared, or NULL: inferred */
    int               n_replica;
    const axe_iter   *replica;    /* layout NULL: R of the inferred one; on
                                     `cta`: the same in each CTA of a cluster */
    const axe_pipeline *pipeline; /* or NULL */
    /* Global, of a kernel over a mesh: as one device has it, and as all have it
     * together, of the same name and id, which statements between devices
     * name. */
    const axe_held   *held;  /* NULL: by its parts alone */
    const axe_tensor *whole; /* of one that a device has */
    const axe_tensor *local; /* of a whole one */
};

/* Is it an argument that is one number, which a call passes by value? */
bool axe_is_scalar(const axe_tensor *t);

struct axe_pipeline {
    const char              *name;
    axe_span                 at;
    int                      n_stage;
    int                      n_tensor;
    const axe_tensor *const *tensor;
};

typedef enum axe_stmt_kind {
    AXE_STMT_SCOPE,    /* each entity of `scope` in var[] ranges runs body */
    AXE_STMT_FOR,      /* var[0] in order runs body */
    AXE_STMT_TENSOR,   /* `tensor` exists from here to the end of the body */
    AXE_STMT_PIPELINE, /* so do the tensors of `pipeline` */
    AXE_STMT_PRODUCE,  /* body fills the next stage of `pipeline` */
    AXE_STMT_CONSUME,  /* body reads the next stage and frees it */
    AXE_STMT_IF,       /* body if `cond` holds, else `other` */
    AXE_STMT_LOOP,     /* body again and again, until a BREAK */
    AXE_STMT_BREAK,    /* leaves the innermost FOR or LOOP */
    AXE_STMT_CONTINUE, /* begins its next iteration */
    AXE_STMT_INDEX,    /* dst op= value */
    AXE_STMT_BARRIER,  /* all entities around have come here */
    AXE_STMT_ROLES,  /* the SCOPEs in body, of different threads, side by side;
                        those that produce stand before those that consume */
    AXE_STMT_DEVICE, /* body, by each device of the mesh on its parts */
    AXE_STMT_TURN,   /* body, by one entity of the scope around after the other,
                        round by round; what is computed is the same without */
    AXE_N_STMT
} axe_stmt_kind;

typedef enum axe_scope_kind {
#define SCOPE(name, text) AXE_SCOPE_##name,
#include "ir/scopes.def"
    AXE_N_SCOPE,
    AXE_SCOPE_ALL = AXE_N_SCOPE /* whose a memory is that all share */
} axe_scope_kind;
const char *axe_scope_name(axe_scope_kind s);

typedef struct axe_space_row {
    const char    *name, *slow, *fast; /* slow: NULL if there is none */
    int64_t        pitch;
    axe_scope_kind owner;
} axe_space_row;
extern const axe_space_row axe_space_table[AXE_N_SPACE];
/* So where it is in partitions; slow: NULL if it never is. */
extern const axe_space_row axe_space_parts[AXE_N_SPACE];
const char                *axe_space_name(axe_space s);

/* May scopes of kind `inner` stand in one of kind `outer`?  If so *count is how
 * many there are in one, as the axes that cx knows say, or 0: as many as the
 * kernel names.  machine: NULL for any. */
bool axe_scope_nests(const axe_ctx *cx, const char *machine,
                     axe_scope_kind outer, axe_scope_kind inner,
                     int64_t *count);

/* What is said of the entities of a scope, by the rows of scope_keys.def; 0:
 * nothing, or no.
 *
 * A cluster's CTAs run at the same time and reach each other's shared memory:
 * entities that follow each other along the scope's first variable, v / cluster
 * the same.  The last cluster is filled up with CTAs that run along, write
 * nothing, and read zeros.
 *
 * The order of tiles is that of their clusters: row-major; or `group` of the
 * first variable at a time, and among these the first variable fastest; or
 * along a Hilbert curve (lower/code/order.h).  Persistent: CTAs that stay take
 * the tiles in that order.  What the body declares lives as long as they do;
 * where it holds only declarations and `roles`, each role runs its own loop
 * over the tiles. */
typedef struct axe_scope_keys {
#define KEY(name, least, most, step, scopes, text) int name;
#include "ir/scope_keys.def"
} axe_scope_keys;

typedef enum axe_scope_key {
#define KEY(name, least, most, step, scopes, text) AXE_SCOPE_KEY_##name,
#include "ir/scope_keys.def"
    AXE_N_SCOPE_KEY
} axe_scope_key;

typedef struct axe_scope_key_info {
    const char *name;
    int         least, most, step; /* its values; most 1: yes or no */
    unsigned    scopes;            /* bits 1 << axe_scope_kind */
    const char *text;
} axe_scope_key_info;

extern const axe_scope_key_info axe_scope_key_table[AXE_N_SCOPE_KEY];

/* The axis that counts the CTAs of a cluster: `cta`, known on every machine.
 * ENAME if it is there as something else. */
AXE_CHECK axe_status axe_cluster_axis(axe_ctx *cx, axe_axis *out);

int axe_scope_key_get(const axe_scope_keys *s, axe_scope_key key);
/* Set it.  ESHAPE: no value it may have; EUNSUPPORTED: not of such a scope. */
AXE_CHECK axe_status axe_scope_key_set(axe_ctx *cx, axe_span at,
                                       axe_scope_kind scope, axe_scope_key key,
                                       int64_t value, axe_scope_keys *s);

/* What the language calls the number of workers. */
#define AXE_CORES "cores"

/* One index variable of a statement and how far it runs. */
typedef struct axe_dim {
    const axe_var  *var;
    const axe_node *extent; /* iconst, or an expression over sizes */
} axe_dim;

typedef enum axe_attr_key {
#define ATTR(key, values, least, most, takes, text) AXE_ATTR_##key,
#include "ir/attrs.def"
    AXE_N_ATTR
} axe_attr_key;

enum { AXE_ATTR_NAME = -1 }; /* for n_value: a name */

typedef struct axe_attr_info {
    const char *name;
    int         n_value, least, most;
    const char *takes;
} axe_attr_info;

extern const axe_attr_info axe_attr_table[AXE_N_ATTR];

/* One attribute of an index statement; `via`, `atom` and `slow` have their own
 * place there. */
typedef struct axe_attr {
    axe_attr_key key;
    axe_span     at;
    int64_t      value[2];
} axe_attr;

struct axe_stmt {
    axe_stmt_kind         kind;
    axe_span              at;
    axe_scope_kind        scope; /* SCOPE */
    int                   n_var; /* SCOPE, FOR */
    const axe_var *const *var;
    const int64_t *first;   /* SCOPE: [n_var] number of the entity where var is
                               0; or NULL: 0 */
    axe_scope_keys    keys; /* SCOPE */
    const axe_tensor *tensor;     /* TENSOR; SCOPE that begins a group that
                                     overlaps: a global tensor that counts who is
                                     done, or NULL: a planner makes one */
    const axe_pipeline *pipeline; /* PIPELINE, PRODUCE, CONSUME */
    int                 n_body;
    axe_stmt *const    *body;
    const axe_node *cond; /* IF: a bool over sizes, scopes, loops, and rank-0
                             tiles of bool */
    int              n_other;
    axe_stmt *const *other; /* IF */
    /* INDEX */
    int             id;    /* of this index statement, dense from 0 */
    const axe_node *dst;   /* a load node: the tensor and where */
    axe_fold        fold;  /* NONE for plain assignment */
    const axe_node *value; /* type of dst */
    int             n_dim; /* free indices in order of dst, then folded ones in
                              order of appearance; indices bound by a reduce
                              node inside value are not here */
    int            n_free;
    const axe_dim *dim;
    const char    *via;    /* pinned schedule, or NULL */
    const char    *atom;   /* the statement is one invocation of the machine's
                              atom of that name, dst = load or dst += load *
                              load; or NULL */
    bool           slow;   /* fallback permitted */
    const axe_var *prefix; /* made by a planner: one of the indices; the value
                              is op(a, b), and means a op all b of this index up
                              to the statement's; else NULL */
    int             n_attr;
    const axe_attr *attr;
};

typedef struct axe_binding {
    const char        *name;
    bool               is_type, is_real;
    int64_t            value;    /* the integer, or an axe_type */
    double             real;     /* of a floating one, finite */
    int                n_domain; /* values it may have, as written; 0: any */
    const char *const *domain;
} axe_binding;

typedef struct axe_kernel {
    const axe_ctx        *cx; /* that its units are of */
    const char           *name;
    axe_span              at;
    const char           *target; /* as written, with ", " between; NULL: any */
    int                   n_binding; /* compile-time parameters, as bound */
    const axe_binding    *binding;
    int                   n_size;
    const axe_var *const *size; /* kind SIZE, in order of appearance */
    int                   n_param;
    const axe_tensor *const *param; /* global tensors, in order */
    /* Global tensors of the kernel's own, made for one launch: those that
     * TENSOR statements in `body` declare, in order.  Extents of their first
     * dimensions are expressions over sizes; below 0 counts as 0. */
    int                      n_temp;
    const axe_tensor *const *temp;
    const axe_var           *cores;  /* how many workers run it; not in size */
    int                      n_axis; /* 0: it is for one device */
    bool beside_mesh; /* its file has a mesh, of which it names nothing */
    const axe_axis_of *axis;
    int                n_body;
    axe_stmt *const   *body;
    int                n_var, n_tensor, n_index_stmt; /* ids in use */
} axe_kernel;

/* The argument, one number, whose value the size is at a call, as how often a
 * loop around scopes runs; by its name, NAME.value.  NULL: it is a size of its
 * own. */
#define AXE_OF_VALUE ".value"
const axe_tensor *axe_size_source(const axe_kernel *k, const axe_var *size);

/* ------------------------------------------------------------- building */

/* Nodes check operand count, not types: axe_kernel_verify does.  Constants of
 * integer operations fold; x+0, x*1, x*0, 0+x fold on index integers, true && c
 * and the like on conditions. */
const axe_node *axe_iconst(axe_ctx *cx, axe_span at, axe_type type, int64_t v);
/* Of the type of indices, from no place in a text. */
const axe_node *axe_index_const(axe_ctx *cx, int64_t v);
const axe_node *axe_fconst(axe_ctx *cx, axe_span at, axe_type type, double v);
const axe_node *axe_var_node(axe_ctx *cx, axe_span at, const axe_var *v);
const axe_node *axe_node_new(axe_ctx *cx, axe_op op, axe_type type, axe_span at,
                             int n_arg, const axe_node *const *arg);
const axe_node *axe_node1(axe_ctx *cx, axe_op op, const axe_node *a);
const axe_node *axe_node2(axe_ctx *cx, axe_op op, const axe_node *a,
                          const axe_node *b);
const axe_node *axe_load(axe_ctx *cx, axe_span at, const axe_tensor *t,
                         const axe_node *const *subscript);
const axe_node *axe_cast(axe_ctx *cx, axe_span at, axe_type to,
                         const axe_node *a);
const axe_node *axe_reduce(axe_ctx *cx, axe_span at, axe_fold fold, int n_over,
                           const axe_dim *over, const axe_node *body);

/* The strides of an argument whose elements lie close: the last dimension
 * fastest, or the first.
 * s       [rank]
 * Errors  EOVERFLOW: constant extents beyond 64-bit addresses */
AXE_CHECK axe_status axe_tensor_strides(axe_ctx *cx, const axe_tensor *t,
                                        bool column_major, axe_stride *s);

bool axe_attr_find(const char *name, axe_attr_key *out);
/* The statement's attribute of that key, or NULL. */
const axe_attr *axe_attr_of(const axe_stmt *s, axe_attr_key key);
/* ENAME: given twice, or excluded by another; ESHAPE: out of its range. */
AXE_CHECK axe_status axe_attr_add(axe_ctx *cx, axe_stmt *s, const axe_attr *a);
/* " prefetch = 4 tile = (6, 2)" */
void axe_attrs_print(axe_buf *out, const axe_stmt *s);

/* The neutral element of a fold in a type (-inf, 0, 1, +inf, INT_MIN ...). */
const axe_node *axe_fold_unit(axe_ctx *cx, axe_fold fold, axe_type type);
const char     *axe_fold_text(axe_fold fold); /* "+", "max" */
const char     *axe_fold_name(axe_fold fold); /* "sum", "max" */

/* The type of op applied to arg, if it is well typed; not for leaves, cast. */
axe_type axe_op_type(axe_op op, const axe_node *const *arg);
/* From the start of a to the end of b, as far as one line goes. */
axe_span axe_span_join(axe_span a, axe_span b);

/* Fill in k->temp from its body. */
void axe_kernel_find_temps(axe_ctx *cx, axe_kernel *k);

/* ------------------------------------------------------------- reading */

bool axe_is_iconst(const axe_node *n, int64_t *value);
/* Is n an element of a tile in tensor memory? */
bool axe_is_in_tmem(const axe_node *n);
/* Is the index expression at least 0 for sure?  Variables are, but for those
 * read from tensors. */
bool axe_is_nonneg(const axe_node *n);
/* A range of a scope counts n: at least 0, as counts are multiplied. */
const axe_node *axe_count_of_entities(axe_ctx *cx, const axe_node *n);
/* An operation on index integers and conditions; false where int64 does not
 * hold the result. */
bool axe_op_value(axe_op op, const int64_t *arg, int64_t *out);
/* What the operation on operands of the integer type (or bool) t gives when a
 * kernel runs: wrapped to t, division by zero zero.  Values are kept as int64,
 * those of u64 as its bits.  False: not an operation on integers alone. */
bool axe_whole_op(axe_op op, axe_type t, const int64_t *arg, int64_t *out);
/* op of real numbers, in double; false: not a function of them. */
bool axe_real_op(axe_op op, const double *arg, double *out);
/* v wrapped to an integer type. */
int64_t axe_whole_wrap(axe_type t, int64_t v);

/* sum of coef[i] * var[i] + constant, distinct variables, coefs nonzero.  What
 * no index occurs in need not be affine: `h/G`, `i*N` and the like are
 * variables of kind PART, the same where axe_var_same says so. */
typedef struct axe_affine {
    int                   n;
    const axe_var *const *var;
    const int64_t        *coef;
    int64_t               constant;
} axe_affine;
/* false if n is not affine with integer coefficients. */
bool axe_affine_of(axe_ctx *cx, const axe_node *n, axe_affine *out);
/* The same of a subscript, where terms that compute with indices otherwise, or
 * read an element, are variables of kind PART, too: axe_is_computed.  false if
 * it folds. */
bool axe_subscript_of(axe_ctx *cx, const axe_node *n, axe_affine *out);
bool axe_is_computed(const axe_var *v);
/* Is a computed term the value of a scalar below 2^31: one for the statement?
 */
bool    axe_is_steady(const axe_var *v);
int64_t axe_affine_coef(const axe_affine *a, const axe_var *v); /* or 0 */

bool axe_var_same(const axe_var *a, const axe_var *b);
/* Are two expressions the same, of the very same variables and tensors? */
bool axe_node_same(const axe_node *a, const axe_node *b);

/* An interval that holds every value of an integer expression; a side that is
 * not known has no bound.  Of index variables only that they are at least 0. */
typedef struct axe_interval {
    int64_t lo, hi;
    bool    has_lo, has_hi;
} axe_interval;
axe_interval axe_interval_of(const axe_node *n);
/* The same where `of` has the interval of each variable, by its number.  The
 * first sum or product that may reach beyond AXE_INDEX_MOST goes to *beyond, if
 * that is NULL before. */
axe_interval axe_interval_in(const axe_node *n, const axe_interval *of,
                             const axe_node **beyond);
/* The same where more is known of some of the expressions in it: then `known`
 * says true, and what. */
typedef bool axe_interval_known(const void *user, const axe_node *n,
                                axe_interval *out);
axe_interval axe_interval_where(const axe_node *n, axe_interval_known *known,
                                const void *user);

/* Does n mention v? */
bool axe_mentions(const axe_node *n, const axe_var *v);
/* Is `part`, the very node, n or in it? */
bool axe_node_holds(const axe_node *n, const axe_node *part);
/* Does n load an element of any? */
bool axe_node_loads(const axe_node *n);
/* Does n load an element of t?  NULL, where there is no expression, does not.
 */
bool axe_node_reads(const axe_node *n, const axe_tensor *t);

/* Walk all nodes of an expression, operands first. */
typedef void axe_visit(void *user, const axe_node *n);
void         axe_node_walk(const axe_node *n, axe_visit *fn, void *user);

/* ------------------------------------------------------------- checking */

/* Types, ranks, names in scope, one write per element, domains.  All errors
 * are recorded; the first one's status is returned. */
AXE_CHECK axe_status axe_kernel_verify(axe_ctx *cx, const axe_kernel *k);

/* Are there TURNs in the scope s, those of inner scopes aside? */
bool axe_scope_has_turns(const axe_stmt *s);
/* Threads of `outer` that no role has: is there one, which is the first, and of
 * how many. */
bool axe_roles_gap(const axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer,
                   int64_t *first, int64_t *n_thread);
/* Does the body of s hold declarations and roles, and nothing else? */
bool axe_scope_is_of_roles(const axe_stmt *s);
/* The first PRODUCE or CONSUME of p (NULL: any) that s is or holds, or NULL. */
const axe_stmt *axe_stage_find(const axe_stmt *s, const axe_pipeline *p,
                               axe_stmt_kind kind);

/* Every subscript affine; those of tiles inside, for every point of the domain
 * and all values of loops and scopes around, as far as the conditions in the
 * value and those that hold around s let it come to that.
 * holds   or NULL (range.h)
 * Errors  ESHAPE, EUNSUPPORTED */
struct axe_holds;
AXE_CHECK axe_status axe_stmt_check_inside(axe_ctx *cx, const axe_stmt *s,
                                           const struct axe_holds *holds);
/* No element of dst is written twice: its subscripts are injective over the
 * free indices.  ESHAPE with two points that clash, or where mixed radices do
 * not show it.  Nor is what it writes read by its value, but for the element
 * itself where nothing is folded, and where it is one element altogether. */
AXE_CHECK axe_status axe_stmt_check_writes(axe_ctx *cx, const axe_stmt *s);
/* Does a subscript on the left compute with indices?  Then elements may be
 * written more than once: in the order of the free indices, the last fastest.
 */
bool axe_is_scatter(axe_ctx *cx, const axe_stmt *s);

/* The kernel with perfect nests of loops and inner scopes around one element
 * as index statements, where that is the same (raise.c); k itself if there is
 * none.  Statements keep their numbers, variables are added. */
const axe_kernel *axe_kernel_raise(axe_ctx *cx, const axe_kernel *k);

/* ------------------------------------------------------------- text */

/* Print; axe_kernel_read of the print gives the same print. */
void axe_kernel_print(axe_ctx *cx, axe_buf *out, const axe_kernel *k);
/* Read the whole of a registered source. */
AXE_CHECK axe_status axe_kernel_read(axe_ctx *cx, int32_t source,
                                     const axe_kernel **out);
/* "64", "bf16", "1e-05": reads back. */
const char *axe_binding_text(axe_ctx *cx, const axe_binding *b);
/* One expression as the language spells it, for messages and plans. */
const char *axe_node_text(axe_ctx *cx, const axe_node *n);
/* An operation's sign or name: "+", "exp". */
const char *axe_op_sign(axe_op op);
/* One index statement on one line, as axe_kernel_print writes it. */
const char *axe_stmt_text(axe_ctx *cx, const axe_stmt *s);

#endif
