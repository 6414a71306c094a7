/* ptx.h - what executes PTX on the host: kernels, machines, and what happens
 * later.
 *
 * A kernel is a list of instructions with jumps.  A cluster of CTAs runs at a
 * time; warps take turns, and the lanes of a warp have program counters of
 * their own: those at the lowest one go on, together.  What is asynchronous is
 * a job: it runs when it is issued, when something waits for it, or at a
 * moment that a seed chooses (ptx_gpu.order).
 *
 * This shares nothing with the compiler or its simulator: what instructions do
 * is written from the PTX ISA, and tensor maps from the driver's interface.
 *
 * Addresses of global memory are the host's.  Shared memory begins at BASE; an
 * address in another CTA of the cluster has its rank + 1 in bits 24 to 31. */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    N_LANE = 32,
    MAX_CLUSTER = 16,
    MAX_CTA_WARP = 32,
    MAX_RANK = 5,
    N_NAMED = 16, /* barriers of a CTA */
    N_COLUMN = 512,
    N_TLANE = 128,
    SHARED_BASE = 1024,
    SHARED_MOST = 232448,
    RANK_SHIFT = 24,
    MAX_TYPE = 4,
    MAX_ARG = 8,
    N_WGMMA_SEEN = 64
};

typedef enum ptx_result { PTX_DONE, PTX_BLOCKED, PTX_WRONG } ptx_result;

/* -------------------------------------------------------------------- kernels
 */

typedef struct ptx_type {
    const char *name;
    char        kind;
    int         bits;
} ptx_type;

typedef enum ptx_word {
#define WORD(name, text) W_##name,
#include "words.def"
    N_WORD
} ptx_word;

typedef enum ptx_special {
    S_TID,
    S_CTAID,
    S_NCTAID,
    S_NTID,
    S_RANK,
    S_LANE,
    S_ZERO
} ptx_special;

typedef struct ptx_operand {
    enum { O_REG, O_NUMBER, O_SPECIAL, O_PARAM, O_NONE } kind;
    int      bits; /* of the register */
    bool     negated;
    uint64_t value; /* register, number, ptx_special, byte of the parameters */
} ptx_operand;

/* `x`, `{x, y}`, `[x + offset]`, `[x, {y, z}]`: operands in order. */
typedef struct ptx_arg {
    const ptx_operand *op;
    int                n;
    bool               memory;
    int64_t            offset;
} ptx_arg;

struct ptx_warp;
struct ptx_insn;
typedef ptx_result ptx_run(struct ptx_warp *w, const struct ptx_insn *i,
                           uint32_t lanes);

/* What jobs are waited for together. */
typedef enum ptx_stream {
    J_BOX,   /* done at an mbarrier, in any order */
    J_BULK,  /* in groups of a thread */
    J_COPY,  /* in groups of a thread, with arrivals behind them */
    J_WGMMA, /* in groups of a warp, in order */
    J_TLD,   /* tensor memory to or from registers, of a warp */
    J_TC,    /* products in tensor memory, in order */
    N_STREAM
} ptx_stream;

typedef struct ptx_op {
    const char *name;
    ptx_run    *run;
    bool        together; /* all lanes of a warp */
    ptx_stream  stream;   /* whose groups it is about; or N_STREAM */
} ptx_op;

typedef struct ptx_insn {
    const ptx_op   *op;
    char           *text; /* the statement, and its line */
    int             line;
    int             guard; /* a register, or -1 */
    bool            guard_not;
    int             n_type;
    const ptx_type *type[MAX_TYPE];
    uint64_t        words; /* 1 << ptx_word */
    int             vec;   /* v2, v4; 1 */
    int             count; /* x4; 1 */
    int             dims;  /* 2d; 0 */
    int             m, n, k;
    int             target; /* of a branch */
    int             n_arg;
    ptx_arg         arg[MAX_ARG];
    ptx_operand    *operands; /* of all of them */
} ptx_insn;

typedef struct ptx_param {
    char name[96];
    int  bytes, at;
} ptx_param;

typedef struct ptx_kernel {
    struct ptx_kernel *next;
    char               name[96];
    int                n_param, param_bytes;
    ptx_param          param[64];
    int                most_threads, cluster;
    int                n_reg, n_insn;
    ptx_insn          *insn;
    int                dynamic; /* bytes of shared memory that are allowed */
} ptx_kernel;

/* Kernels of a text, or NULL and what is wrong in said. */
ptx_kernel *ptx_read(const char *text, char *said, size_t n_said);
void        ptx_free(ptx_kernel *k); /* all of them; NULL: none */

static inline bool
ptx_has(const ptx_insn *i, ptx_word w)
{
    return i->words >> w & 1;
}

/* --------------------------------------------------------------------- memory
 */

/* Bytes of an array on the device, and which of them were written. */
typedef struct ptx_region {
    struct ptx_region *next;
    unsigned char     *data;
    unsigned char     *known;
    unsigned char     *watched; /* that the launch has loaded by .acquire; NULL:
                                   none */
    size_t bytes;
} ptx_region;

/* An encoded tensor map. */
typedef struct ptx_map {
    char           magic[8];
    unsigned char *address;
    int64_t        size[MAX_RANK], stride[MAX_RANK];
    uint16_t       box[MAX_RANK];
    uint8_t        rank, type, swizzle; /* as the driver numbers them */
} ptx_map;

typedef struct ptx_bar {
    bool set;
    int  want, missing;
    long bytes; /* that are expected and did not come */
    long phase;
} ptx_bar;

typedef struct ptx_named {
    int  want, come;
    long phase;
} ptx_named;

typedef struct ptx_seen {
    long            number;
    const ptx_insn *insn;
    uint64_t        a, b;
} ptx_seen;

/* ------------------------------------------------------------------- machines
 */

typedef struct ptx_cta {
    struct ptx_cluster *cluster;
    int                 rank, number;
    int                 n_warp;
    struct ptx_warp    *warp;
    unsigned char      *shared, *known; /* from SHARED_BASE */
    int                 shared_bytes;
    ptx_bar            *bar; /* one for 8 bytes */
    ptx_named           named[N_NAMED];
    uint32_t (*tmem)[N_COLUMN]; /* [lane][column] */
    uint16_t *tknown;           /* [column] lanes that were written, by 8 */
    int       t_columns;        /* allocated, from 0; 0: none */
    ptx_seen  seen[MAX_CTA_WARP / 4][N_WGMMA_SEEN];
} ptx_cta;

typedef struct ptx_warp {
    ptx_cta  *cta;
    int       id;
    uint32_t  live, blocked;
    int       pc[N_LANE];
    uint64_t *reg; /* [register][lane] */
    bool      waits;
    long      named_phase;
    bool      came; /* at the cluster's barrier */
    long      cluster_phase;
    long      n_wgmma;
    int       group[N_STREAM][N_LANE]; /* that were committed */
    bool      early; /* has not waited for the launch before, which may run */
} ptx_warp;

typedef struct ptx_job {
    struct ptx_job *next, *prev;
    ptx_stream      stream;
    ptx_warp       *warp;
    uint32_t        lanes;
    int             group;  /* -1: none so far */
    long            number; /* of the product */
    const ptx_insn *insn;
    ptx_result (*run)(struct ptx_job *j);
    uint64_t a[12];
    uint64_t lane[][N_LANE]; /* n_lane */
} ptx_job;

typedef struct ptx_cluster {
    struct ptx_gpu   *gpu;
    const ptx_kernel *kernel;
    unsigned char    *params;
    int               n_cta, n_thread, n_block;
    int               next; /* the first CTA of those that have not begun */
    ptx_cta          *cta;
    long              phase; /* of its barrier */
    ptx_job          *first, *last;
    int               n_job;
    ptx_job          *made; /* and not issued so far */
    bool              moved;
} ptx_cluster;

typedef struct ptx_gpu {
    ptx_region *region;
    int         order; /* 0 at once, 1 late, else a seed */
    uint64_t    random, n_step;
    bool        early; /* the launch may begin before the one before it ends */
    bool        together; /* its clusters are there at once */
    char        said[1024];
} ptx_gpu;

/* Runs all CTAs of a grid of n_block; args are the host's pointers to the
 * parameters' values.  What is wrong is in gpu->said. */
bool ptx_launch(ptx_gpu *gpu, const ptx_kernel *k, int n_block, int n_thread,
                int shared_bytes, void **args);

/* True, reported, if the warp must wait for the launch before it first. */
bool ptx_is_early(ptx_warp *w, const ptx_insn *i);

ptx_result ptx_wrong(ptx_warp *w, const ptx_insn *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---------------------------------------------------------- what handlers use
 */

uint64_t ptx_special_of(const ptx_warp *w, uint64_t what, int lane);

static inline uint64_t
ptx_get(const ptx_warp *w, const ptx_operand *o, int lane)
{
    uint64_t v = o->value;

    if (o->kind == O_REG)
        v = w->reg[o->value * N_LANE + (unsigned)lane];
    else if (o->kind == O_PARAM)
        v += (uint64_t)(uintptr_t)w->cta->cluster->params;
    else if (o->kind == O_SPECIAL)
        v = ptx_special_of(w, v, lane);
    return o->negated ? !v : v;
}

static inline void
ptx_put(ptx_warp *w, const ptx_operand *o, int lane, uint64_t v)
{
    if (o->kind != O_REG)
        return;
    w->reg[o->value * N_LANE + (unsigned)lane] =
        o->bits < 64 ? v & ((UINT64_C(1) << o->bits) - 1) : v;
}

/* The value that all lanes have; a finding where they differ. */
ptx_result ptx_same(ptx_warp *w, const ptx_insn *i, const ptx_operand *o,
                    uint32_t lanes, uint64_t *out);

static inline uint64_t
ptx_address(const ptx_warp *w, const ptx_arg *a, int lane)
{
    return ptx_get(w, a->op, lane) + (uint64_t)a->offset;
}

static inline int
ptx_first(uint32_t lanes)
{
    return __builtin_ctz(lanes);
}

/* n bytes of memory, checked: that they are there, aligned, and, to be read,
 * were written; NULL if not.  Those of shared memory may be another CTA's. */
typedef enum ptx_access { A_READ, A_WRITE } ptx_access;
unsigned char *ptx_global(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n,
                          size_t align, ptx_access how);
unsigned char *ptx_shared(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n,
                          size_t align, ptx_access how);

/* The CTA that an address of shared memory is in, and the address there. */
ptx_cta *ptx_owner(ptx_warp *w, const ptx_insn *i, uint64_t at, uint32_t *out);

/* XOR of address bits 4 to 6 as TMA and tensor cores do; bytes 0, 32, 64, 128.
 */
static inline uint32_t
ptx_swizzle(uint32_t at, int bytes)
{
    return at ^ ((at >> 7 & (uint32_t)(bytes / 16 - 1) * (bytes > 0)) << 4);
}

ptx_bar   *ptx_bar_at(ptx_warp *w, const ptx_insn *i, uint64_t at);
ptx_result ptx_arrive_at(ptx_warp *w, const ptx_insn *i, uint64_t at,
                         long bytes);
ptx_result ptx_bytes_come(ptx_warp *w, const ptx_insn *i, uint64_t at,
                          long bytes);

/* A job with room for n values of each lane, to be filled and given to
 * ptx_issue, which may run it at once. */
ptx_job   *ptx_job_new(ptx_warp *w, const ptx_insn *i, uint32_t lanes,
                       ptx_stream s, int n);
ptx_result ptx_issue(ptx_job *j);
/* Does it, and forgets it. */
ptx_result ptx_run_job(ptx_job *j);
bool       ptx_asked(const ptx_job *j);
/* A job of each lane, which `fill` says the values of. */
typedef ptx_result ptx_fill(ptx_job *j, int lane);
ptx_result ptx_issue_each(ptx_warp *w, const ptx_insn *i, uint32_t lanes,
                          ptx_stream s, ptx_result (*run)(ptx_job *j),
                          ptx_fill  *fill);
/* Runs jobs of these lanes but for those of the last n groups. */
ptx_result ptx_finish(ptx_warp *w, uint32_t lanes, ptx_stream s, int n);
/* One job of those that may be next. */
ptx_result ptx_any_job(ptx_cluster *c);
uint64_t   ptx_random(ptx_gpu *g);

/* ------------------------------------------------------------------- numbers
 */

double          ptx_number(const ptx_type *t, uint64_t bits);
uint64_t        ptx_bits(const ptx_type *t, double v);
float           ptx_f32(uint64_t bits);
uint64_t        ptx_f32_bits(float v);
uint64_t        ptx_add(const ptx_type *t, uint64_t a, uint64_t b);
const ptx_type *ptx_type_of(const char *name);

#define OP(name, run, how) ptx_run run;
#include "words.def"

#endif
