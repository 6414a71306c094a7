/* machine.h - machines as tables: what the planners may choose from.
 *
 * An atom is one row: its operands as layouts, what it computes, what it costs.
 * Layout texts may use V, the vector's length in elements of the statement's
 * compute type; it is put in when a planner asks for the atom.  The planners
 * name no atom: they ask the table for every row of a kind and take the
 * cheapest whose layouts fit. */
#ifndef AXE_MACHINE_H
#define AXE_MACHINE_H

#include "ir/ir.h"
#include "machine/descriptor.h"

typedef enum axe_atom_kind {
    AXE_ATOM_LOAD,        /* memory to registers */
    AXE_ATOM_STORE,       /* registers to memory */
    AXE_ATOM_LOAD_PART,   /* memory to the first lanes of a register */
    AXE_ATOM_STORE_PART,  /* the first lanes of a register to memory */
    AXE_ATOM_GATHER,      /* memory, evenly apart, to registers */
    AXE_ATOM_GATHER_PART, /* the same to the first lanes of a register */
    AXE_ATOM_PERMUTE,     /* registers to registers */
    AXE_ATOM_CONTRACT,    /* c += a * b */
    AXE_ATOM_MAP,         /* element by element */
    AXE_ATOM_COPY,        /* memory to memory */
    AXE_ATOM_SYNC /* moves nothing, orders what others do: axe_sync_kind */
} axe_atom_kind;

/* What an atom of kind SYNC does.  Its operands, in order, are in brackets. */
typedef enum axe_sync_kind {
    AXE_SYNC_NONE,
    AXE_SYNC_BARRIER, /* [id, n] n threads have come here; id: a named barrier;
                         of the atom's whole scope without operands */
    AXE_SYNC_BEGIN, /* as BARRIER, but of what came before only INITs are seen,
                       and only if INITED */
    AXE_SYNC_HALF,  /* [id, n] the first half of BARRIER: arrive, do not wait */
    AXE_SYNC_INIT,  /* [bar, n] an mbarrier that waits for n arrivals */
    AXE_SYNC_EXPECT, /* [bar, bytes] arrive, and wait for so many more bytes */
    AXE_SYNC_ARRIVE, /* [bar], [bar, cta] here, or in another CTA */
    AXE_SYNC_WAIT,   /* [bar, parity] the phase of that parity is over */
    AXE_SYNC_COMMIT, /* what was issued since is a group of `group`; [bar],
                        [bar, mask] one arrival there, or in these CTAs, when
                        all that this thread issued to the group is done */
    AXE_SYNC_DRAIN,  /* [n] at most n groups of `group` are not done; all that
                        was issued is done without operands */
    AXE_SYNC_READ,   /* [n] the same, of their reading only */
    AXE_SYNC_FENCE,  /* before atoms of `group` see what threads wrote */
    AXE_SYNC_INITED, /* INITs are seen by the cluster and by copies */
    AXE_SYNC_BUDGET, /* [n] registers a thread from here on */
    AXE_SYNC_PAUSE,  /* nothing; compilers move nothing past it */
    AXE_SYNC_PREFETCH, /* [map] of a tensor map */
    AXE_SYNC_ALLOC,    /* [word, n] n columns of tensor memory; the first one's
                          address is put into the word of shared memory */
    AXE_SYNC_FREE,     /* [tile, n] the n columns that begin with the tile */
    AXE_SYNC_BEFORE,   /* what the thread did in tensor memory and knows to be
                          done comes before what threads do behind its next
                          barrier */
    AXE_SYNC_AFTER, /* what it does there from here on comes after what others
                       did before its last barrier */
    AXE_SYNC_TAKE,  /* [answer, bar] a cluster of the launch that has not begun
                       does not; the number of its first CTA, or that there is
                       none, comes into 16 bytes of shared memory, told by bytes
                       at the mbarrier; DSMEM: in every CTA of the cluster */
    AXE_SYNC_TAKEN, /* [reg, answer] that number; -1: none */
    AXE_SYNC_ADMIT, /* the call's next launch may begin once all CTAs have come
                       here or ended */
    AXE_SYNC_PRIOR, /* the call's launches before this one have ended, and what
                       they wrote is seen by the thread */
    AXE_SYNC_COUNT, /* [counter] a word of 64 bits in global memory is one more;
                       who waits for it sees what this thread knows */
    AXE_SYNC_PUT,   /* [counter, n] it is n, whatever it was; so, too */
    AXE_SYNC_REACH, /* [counter, n] it is n or more */
    AXE_SYNC_SAME   /* [counter, n] it is n, whatever it was before, which
                       nobody need have written */
} axe_sync_kind;

/* Where an operand of an atom is. */
typedef enum axe_arg_space {
    AXE_ARG_NONE,
    AXE_ARG_REG,    /* registers of the threads that issue it */
    AXE_ARG_SHARED, /* of the CTA */
    AXE_ARG_DSMEM,  /* shared memory of any CTA of the cluster */
    AXE_ARG_GLOBAL,
    AXE_ARG_TMEM, /* tensor memory of the CTA */
    AXE_ARG_MAP,  /* global through a tensor map: a box at coordinates */
    AXE_ARG_INT   /* a number */
} axe_arg_space;
/* Where an operand is that is a tensor there. */
axe_arg_space axe_space_operand(axe_space s);

/* Of an atom's operand: the compute type of what it adds to, or where it moves
 * elements, any; elements of 32 bits or more. */
#define AXE_TYPE_any AXE_N_TYPE
#define AXE_TYPE_wide ((axe_type)(AXE_N_TYPE + 1))

/* The shortest vector that parts of vectors and dot products are of [bits]. */
enum { AXE_LEAST_VECTOR = 128 };

/* An operand's text names index roles in brackets, then its layout over them:
 * "[n] (V) : (1@vlane)".  LOAD: d from a.  STORE: d (memory) from a; and so
 * do their PARTs, but for lanes behind a number, which hold anything or are not
 * stored.  GATHER: as LOAD, with S for any stride.
 * PERMUTE: d from a.  CONTRACT: c = d, a, b. */
typedef struct axe_atom {
    const char   *name;
    axe_atom_kind kind;
    const char   *d, *a, *b; /* "" where there is none */
    axe_type      type[3];   /* of d, a, b; see AXE_TYPE_any */
    double        cost;      /* issue slots [cycles of one port] */
    bool          slow;      /* far below the machine's best */
    bool          flip;      /* CONTRACT: a's sign bits, see atoms.def */
    const char   *needs;     /* features, with blanks between, or "" */
    const char   *text;      /* what it computes, for people */

    /* Machines with threads.  Operand layouts are over the thread axes of `by`,
     * reg, and m; where a memory operand has thread axes, too, each thread
     * gives an address, and m counts from that of the thread named. */
    axe_scope_kind by;       /* which threads issue it together */
    axe_arg_space  space[3]; /* of d, a, b */
    int lo, hi, step;        /* a family: one row for P = lo, lo + step .. hi;
                                step 0: see axe_atom_param */
    int align;               /* [bytes] of memory operands; PERMUTE: size of an
                                element; 0: any */
    axe_fold fold;           /* STORE, COPY: d = a, d += a ...; PERMUTE: d is
                                what a comes to over roles that d has not, or,
                                where it has all, up to its own; BUDGET: MAX for
                                more registers, MIN for fewer */
    bool fresh;              /* CONTRACT: a 4th operand, 0 or 1, says whether
                                c's old value counts; else it does */
    bool major;              /* CONTRACT: operands in SHARED may have the sum
                                index as the slow dimension */
    const char *scale[2];    /* CONTRACT: 5th and 6th operands in TMEM, numbers
                                that a and b are multiplied by: "[m, s] ..."
                                with k / s elements for each; NULL: none */
    axe_type    scale_type;
    const char *group; /* how it completes: "": when issued; "tx": by
                          bytes at an mbarrier; else by COMMIT and DRAIN
                          of that group.  SYNC: the group it speaks of */
    axe_sync_kind sync;
    const char   *asm_text; /* what the printer writes, see atoms.def */
} axe_atom;

/* What a move to or from global memory asks of the caches: that its lines leave
 * first, or stay longest. */
typedef enum axe_hint {
    AXE_HINT_NONE,
    AXE_HINT_FIRST,
    AXE_HINT_LAST,
    AXE_N_HINT
} axe_hint;

/* "", "evict_first", "evict_last" */
const char *axe_hint_name(axe_hint h);
/* Does the row's text have a place for a hint? */
bool axe_atom_takes_hint(const axe_atom *a);
/* Do threads where its predicate does not hold get zeros?  Of others nothing
 * happens for them. */
bool axe_atom_zeros(const axe_atom *a);
/* Does its text name such a part of operand i: $i.b, $i.c, $i.w? */
bool axe_atom_names(const axe_atom *a, int i, char part);

/* Lanes of a warp, and which of them, as bits; banks of shared memory. */
enum { AXE_MAX_LANES = 64, AXE_MAX_BANKS = 64 };
typedef uint64_t axe_lane_set;
#define AXE_ONE_LANE(l) (UINT64_C(1) << (l))
#define AXE_ALL_LANES(n) (~UINT64_C(0) >> (AXE_MAX_LANES - (n)))

/* A machine whose CTAs have threads that run a kernel together. */
typedef struct axe_simt {
    int     lanes;             /* threads of a warp: 2, 4 .. AXE_MAX_LANES */
    int     group;             /* warps of a warp group */
    int     max_threads;       /* of a CTA */
    int     threads;           /* of a CTA, where the kernel names no number */
    int     max_cluster;       /* CTAs; 1: no clusters */
    int     banks, bank_bytes; /* of shared memory */
    int64_t shared_bytes;      /* that a CTA may have; in each partition */
    int     partitions;        /* of shared memory, one to a thread: see PARTS
                                  of spaces.def; 0: it is one, of all threads */
    int64_t registers;         /* 32-bit ones, of an SM */
    int     max_registers;     /* of a thread */
    int     n_sm;              /* of the usual board, for estimates */
    int     sector_bytes;      /* of global memory, one transaction */
    int     max_vector;        /* [bytes] of one thread's load or store */
    bool    on_core;           /* a core runs a CTA, warp by warp: lanes are
                                  those of its vector registers, shared
                                  memory is its cache */
    int           named_barriers;  /* of a CTA */
    int           map_bits;        /* least of an element in a tensor map */
    bool          elects;          /* a warp chooses one of its lanes */
    axe_desc_form desc;            /* of descriptors of shared memory */
    int           tmem_columns;    /* words of a lane of tensor memory, or 0 */
    int           tmem_lanes;      /* that it has */
    int           tmem_least;      /* columns that a CTA can ask for */
    const struct axe_rates *rates; /* NULL: its row of rates.def */
} axe_simt;

/* [bits] A register of a thread, a word of tensor memory. */
enum { AXE_WORD_BITS = 32 };

/* Threads of one entity of a scope in a CTA, which says itself how many it has:
 * 0. */
int axe_simt_threads_of(const axe_simt *m, axe_scope_kind s);

/* What a machine asks of a compiler: a row of kinds.def. */
typedef enum axe_kind {
#define KIND(id, launches, text) AXE_KIND_##id,
#include "machine/kinds.def"
    AXE_N_KIND
} axe_kind;

typedef struct axe_kind_row {
    const char *name;
    bool        launches;
    const char *text;
} axe_kind_row;

/* What its code is written in: a row of languages.def. */
typedef enum axe_language {
#define LANGUAGE(id, here, where, runner, more) AXE_LANGUAGE_##id,
#include "machine/languages.def"
    AXE_N_LANGUAGE
} axe_language;

typedef struct axe_language_row {
    const char *name;
    bool        here;
    const char *where, *runner, *more;
} axe_language_row;

/* The type in which values of an element type are held in registers. */
typedef struct axe_compute_row {
    axe_type    type, compute;
    const char *needs; /* a feature; "" or NULL: none */
} axe_compute_row;

typedef struct axe_machine {
    const char  *name;   /* "cpu-avx512" */
    const char  *family; /* "cpu": what `default` and `target` name */
    axe_kind     kind;
    axe_language language;
    const char  *arch; /* what its compilers call it: "sm_90a"; NULL:
                          what they are told of features */
    int                    vector_bits, n_vreg;
    int64_t                l1_bytes, l2_bytes;
    int                    l1_ways, l2_ways; /* lines in a set */
    int64_t                stream_bytes;     /* see plan.h; 0: never */
    double                 ghz;              /* nominal, for estimates */
    const char            *features;         /* words of features.def */
    int                    n_atom;
    const axe_atom        *atom;
    int                    n_compute;
    const axe_compute_row *compute; /* types it can hold; others: refused */
    const axe_simt        *simt;    /* of that kind; else NULL */
    bool engines; /* its instructions are trainium/ops.def, and no atoms */
    const axe_axis_table *axes; /* NULL: those of its family */
} axe_machine;

/* Machines of one vendor or standard: a row of families.def. */
typedef struct axe_family {
    const char        *name;
    int                n;
    const axe_machine *machine; /* [n] */
} axe_family;

#define FAMILY(id) extern const axe_family axe_##id##_machines;
#include "machine/families.def"

/* "cpu" is the best row this host can run; "cpu-avx2" and so on by name.
 * ENAME with a suggestion for an unknown machine. */
AXE_CHECK axe_status axe_machine_find(axe_ctx *cx, const char *name,
                                      const axe_machine **out);
/* A machine of the caller's: what must be said of it is, and its axes are known
 * from here on.  Those that axe_machine_find gives are checked.
 * Errors  EUNSUPPORTED: it lacks something, rates for example.  ESHAPE */
AXE_CHECK axe_status axe_machine_use(axe_ctx *cx, const axe_machine *mc);
/* The same, with what a kernel for it may name besides; for one that was found
 * before, if the context has served another one since. */
AXE_CHECK axe_status axe_machine_enter(axe_ctx *cx, const axe_machine *mc);
/* The table of its axes; NULL: none. */
const axe_axis_table *axe_machine_own_axes(const axe_machine *mc);
int                   axe_n_machine(void);
/* Names of machines and families, each once. */
const char *const *axe_machine_names(axe_ctx *cx, int *n);
const axe_machine *axe_machine_at(int i);

/* Compute type of `t`; EUNSUPPORTED if the machine cannot hold it. */
AXE_CHECK axe_status axe_compute_type(axe_ctx *cx, const axe_machine *mc,
                                      axe_span at, axe_type t, axe_type *out);

/* Elements of a vector register when the widest compute type is `t`; at least
 * 32 bits a lane. */
int axe_machine_lanes(const axe_machine *mc, axe_type t);

/* What one device of OpenCL says of itself. */
typedef struct axe_opencl_has {
    const char *kind;                            /* "gpu", "cpu", .. */
    int64_t     local_bytes, most_items, n_unit; /* 0: not known */
    const char *features; /* words of run/opencl/features.def */
    int         least;    /* lanes of its sub-groups; 0: not known */
} axe_opencl_has;

/* A row of opencl/machines.def with what a device has beyond it. */
const axe_machine *axe_opencl_machine(axe_ctx *cx, const axe_machine *row,
                                      const axe_opencl_has *has);

/* What a device must have to run programs for a machine of OpenCL: words, and
 * sgN for its sub-groups. */
const char *axe_opencl_needs(axe_ctx *cx, const axe_machine *mc);

const axe_kind_row     *axe_kind_of(const axe_machine *mc);
const axe_language_row *axe_language_of(const axe_machine *mc);

/* What is so of some machines of a kind, as bits: no clusters; tensor memory;
 * threads with registers of their own, for what is read again. */
enum { AXE_CTAS_ALONE = 1, AXE_HAS_TMEM = 2, AXE_THREADS_KEEP = 4 };
unsigned axe_machine_traits(const axe_machine *mc);
/* How the machine addresses a space: its row of spaces.def. */
const axe_space_row *axe_machine_space(const axe_machine *mc, axe_space s);
/* How much of a space an owner may have: bytes; of a space with two axes, in
 * each of the slow one's, of tensor memory columns.  INT64_MAX: no row says;
 * 0: there is none. */
int64_t axe_machine_room(const axe_machine *mc, axe_space s);
/* Threads of a CTA, where the kernel names no number and at most; 1 and 1 where
 * one core runs it. */
typedef struct axe_threads {
    int usual, most;
} axe_threads;
axe_threads axe_machine_threads(const axe_machine *mc);

/* Can this host run the machine's code? */
bool axe_machine_runs_here(const axe_machine *mc);
/* Has the machine all that the atom needs; the feature of that name ("" and
 * NULL: nothing)? */
bool axe_machine_has(const axe_machine *mc, const axe_atom *atom);
bool axe_machine_has_feature(const axe_machine *mc, const char *word);
/* Is what a kernel's text is for, names of machines and families with ", "
 * between, this one, or NULL? */
bool axe_machine_is_target(const axe_machine *mc, const char *target);
/* The first of these names. */
const char *axe_target_first(axe_ctx *cx, const char *target);
/* Is the word one of a list with blanks between?  "" and NULL are in any. */
bool axe_word_among(const char *word, const char *list);

/* What P is in the row's layouts where it moves elements of `type`: of rows
 * that are no family, how many of them `align` bytes are (1 if it has no P or
 * no align).  false if there is no such P, and for families, whose P the caller
 * takes by axe_atom_takes. */
bool axe_atom_param(const axe_atom *atom, axe_type type, int *param);
/* [cycles] of an SM for one invocation. */
double axe_atom_cycles(const axe_atom *atom, int param);
/* Is P = param one of the family, and do its layouts exist? */
bool axe_atom_takes(const axe_atom *atom, int param);

/* An atom's operand layout with V = P = lanes and G = group, of which products
 * and quotients are numbers, too ("P/8", "2*P"); roles gets the text in
 * brackets.  ESHAPE where a quotient is not a whole number. */
AXE_CHECK axe_status axe_atom_layout(axe_ctx *cx, const char *operand,
                                     int lanes, int group, const char **roles,
                                     const axe_layout **out);

/* The layout of operand `which` (0: d, 1: a, 2: b; 4, 5: their scales) with
 * P = param.  Where its
 * text has axes tlane and tcol they are made m, counted in elements as
 * addresses in tensor memory are: tlane * AXE_TMEM_LANE / bits + tcol. */
enum {
#define SPACE(id, word, slow, fast, pitch, operand, owner, room)               \
    AXE_PITCH_##id = (pitch),
#include "ir/spaces.def"
    AXE_TMEM_LANE = AXE_PITCH_TMEM
};
AXE_CHECK axe_status axe_atom_operand(axe_ctx *cx, const axe_atom *atom,
                                      int which, int param, const char **roles,
                                      const axe_layout **out);

/* Is the operand a matrix in shared memory that a descriptor tells
 * of? */
bool axe_atom_by_descriptor(const axe_atom *atom, int which);

/* How many steps of the sum one scale of a contract atom is for; 0: it has no
 * scales. */
int64_t axe_atom_block(axe_ctx *cx, const axe_atom *atom);

/* How many neighbours of the sum a contract atom takes in one lane: the extent
 * of the role k in its b, or 1. */
int axe_atom_group(axe_ctx *cx, const axe_atom *atom);

#endif
