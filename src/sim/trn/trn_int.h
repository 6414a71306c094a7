/* trn_int.h - one instruction with numbers in place of variables, and what
 * files of this folder know of it. */
#ifndef AXE_SIM_TRN_INT_H
#define AXE_SIM_TRN_INT_H

#include "sim/trn/trn.h"

enum {
    TRN_PARTITIONS = 128,
    TRN_WORD = 4, /* [bytes] in which order and sums are kept */
    TRN_QUADRANTS = TRN_PARTITIONS / AXE_TRN_QUADRANT,
    TRN_MAX_STEPS = 4 << 20,
    TRN_MAX_ELEMENTS = 1 << 25, /* of an operand */
    TRN_MAX_BYTES = 1 << 28     /* of a tensor that is computed */
};

/* A tile as it is declared now, or a tensor of device memory. */
typedef struct trn_tile {
    uint32_t id; /* of this declaration, executed; 0: not yet */
    int64_t  part, n_part, byte, n_byte; /* n_byte in each partition */
    int64_t  rank, shape[AXE_TRACE_DIMS];
    char    *data; /* device memory; NULL: none */
} trn_tile;

/* An argument. */
typedef struct trn_place {
    axe_trace_kind          kind;
    const axe_trace_tensor *tensor;
    trn_tile               *tile;
    axe_trn_memory          memory;
    axe_type                type;
    int64_t                 width;        /* [bytes] of an element */
    int64_t                 part, n_part; /* on chip: of the core */
    int64_t                 first; /* [bytes] from the partition's begin; device
                                      memory: [elements] */
    int64_t part_stride;           /* [elements] of device memory */
    bool    by_index;              /* of a tensor of rows, part_stride long: the
                                      row is the partition's index */
    int              n_dim;
    int64_t          count[AXE_TRACE_DIMS], stride[AXE_TRACE_DIMS];
    int64_t          n; /* elements for each partition */
    double           number;
    axe_trn_function function;
} trn_place;

typedef struct trn_instr {
    const axe_trace_step  *step;
    const axe_trn_arg_row *arg;
    int                    n;
    trn_place              p[AXE_TRN_MAX_ARG];
    int64_t                role[128];
    bool                   overwrite; /* nc_matmul: does not add */
} trn_instr;

/* Of order between engines: who wrote a word last, who read it since, by
 * records. */
typedef struct trn_cell {
    uint32_t write, read[AXE_TRN_N_ENGINE];
} trn_cell;

/* One instruction for the clock. */
typedef struct trn_record {
    axe_trn_engine    engine;
    double            ns;      /* that it keeps its engine */
    double            weights; /* [ns] more if the engine was idle */
    unsigned          ports;   /* memories that it uses, as bits */
    uint32_t          need;    /* first of its records to wait for */
    uint32_t          n_need;
    int64_t           bytes, rows, first_part, n_part; /* dma */
    bool              stores; /* dma: to device memory */
    axe_timeline_work work;
} trn_record;

typedef struct trn_chunk trn_chunk;

typedef struct trn_run {
    axe_ctx               *cx;
    const axe_trace       *t;
    const axe_trn_options *opt;
    int64_t                var[AXE_TRACE_MAX_VARS];
    trn_tile              *tile;  /* of the trace's tensors */
    int                   *owner; /* the tensor of each id */
    uint32_t               cap_id;
    uint32_t               n_id;
    int64_t                n_step, max_steps;
    trn_chunk            **chunk[AXE_TRN_N_MEMORY];
    trn_cell              *cell[AXE_TRN_N_MEMORY];
    trn_cell              *kept; /* of tensors in device memory */
    uint8_t               *sum;  /* state of PSUM's words, by quadrants */
    trn_record            *record;
    uint32_t               n_record, cap_record;
    uint32_t              *need, n_need, cap_need;
    int64_t                hbm_bytes;
} trn_run;

/* Words of a partition of an on-chip memory. */
static inline int64_t
trn_words(axe_trn_memory m)
{
    return axe_trn_memories[m].bytes / TRN_WORD;
}

/* Byte offset of an element along its partition, or element of device memory
 * behind the partition's: element x of the pattern, last count fastest. */
int64_t trn_step(const trn_place *p, int64_t x);
/* Does it go from neighbour to neighbour? */
bool trn_dense(const trn_place *p);
/* Elements in a step that reaches each word once: those of a word where it is
 * dense and begins at one. */
int64_t trn_by_words(const trn_place *p);
/* The named argument; NULL: it is not given. */
const trn_place *trn_arg(const trn_instr *in, const char *name);
/* The indices by which a transfer takes rows; NULL: it does not. */
const trn_place *trn_indices(const trn_instr *in);

/* place.c: values for variables, and what holds of a place. */
AXE_CHECK axe_status trn_declare(trn_run *r, const axe_trace_step *s);
AXE_CHECK axe_status trn_places(trn_run *r, trn_instr *in);
/* Counts and strides fit an instruction's fields. */
AXE_CHECK axe_status trn_fields(trn_run *r, axe_span at, const trn_place *p);
/* check.c: what holds of an instruction; its roles. */
AXE_CHECK axe_status trn_check(trn_run *r, trn_instr *in);
/* sum.c: the state of sums in PSUM. */
AXE_CHECK axe_status trn_sums(trn_run *r, trn_instr *in);
/* memory.c: elements; ESHAPE for what was not written, or not by the tile. */
AXE_CHECK axe_status trn_load(trn_run *r, const trn_instr *in, int arg,
                              float *out);
void trn_store(trn_run *r, const trn_place *p, const float *value);
/* compute.c */
AXE_CHECK axe_status trn_compute(trn_run *r, trn_instr *in);
/* order.c: a record of it, with what it waits for. */
AXE_CHECK axe_status trn_record_add(trn_run *r, const trn_instr *in);
/* When a record's instruction did what [ns]; free: its engine is. */
typedef struct trn_times {
    double begin, free, end;
} trn_times;

/* clock.c */
void trn_clock(trn_run *r, axe_trn_report *out);
/* timeline.c: the same as rows of engines. */
axe_timeline *trn_timeline(trn_run *r, const trn_times *t, double ns);

#endif
