/* trainium.h - a NeuronCore-v2 (Trainium 1) as tables: engines, memories,
 * instructions, what they cost.
 *
 * What reads these tables are planning and lowering of kernels (plan/systolic,
 * lower/systolic), traces, which are programs of engines as text
 * (trace/trace.h), and what runs them (sim/trn/trn.h). */
#ifndef AXE_MACHINE_TRAINIUM_H
#define AXE_MACHINE_TRAINIUM_H

#include "ir/ir.h"

typedef enum axe_trn_memory {
#define MEMORY(id, word, partitions, bytes, bank, text) AXE_TRN_##id,
#include "machine/trainium/memories.def"
    AXE_TRN_N_MEMORY
} axe_trn_memory;

/* A set of memories, as bits. */
enum {
#define MEMORY(id, word, partitions, bytes, bank, text)                        \
    AXE_TRN_IN_##id = 1 << AXE_TRN_##id,
#include "machine/trainium/memories.def"
    AXE_TRN_IN_NONE = 0
};

typedef enum axe_trn_engine {
#define ENGINE(id, ghz, reads, writes, text) AXE_TRN_##id,
#include "machine/trainium/engines.def"
    AXE_TRN_N_ENGINE
} axe_trn_engine;

typedef enum axe_trn_op {
#define OP(id, engines, text) AXE_TRN_OP_##id,
#define ROLE(op, role, most)
#define ARG(op, id, kind, memories, types, layout)
#include "machine/trainium/ops.def"
    AXE_TRN_N_OP
} axe_trn_op;

typedef enum axe_trn_kind {
    AXE_TRN_OUT,
    AXE_TRN_IN,
    AXE_TRN_COLUMN, /* a tile of one column, or a number */
    AXE_TRN_OPT_COLUMN,
    AXE_TRN_OPT_TALL, /* a tile of one column */
    AXE_TRN_NUMBER,
    AXE_TRN_FUNCTION,
    AXE_TRN_OPT_FUNCTION,
    AXE_TRN_INDEX,
    AXE_TRN_OPT_FLAG,
    AXE_TRN_OPT_COUNT
} axe_trn_kind;

typedef enum axe_trn_function {
#define FUNCTION(id, who, arguments, value) AXE_TRN_FN_##id,
#include "machine/trainium/functions.def"
    AXE_TRN_N_FUNCTION
} axe_trn_function;

typedef enum axe_trn_types {
#define TYPES(id, mask) AXE_TRN_TYPES_##id,
#include "machine/trainium/types.def"
    AXE_TRN_N_TYPES
} axe_trn_types;

/* When a row of costs.def holds. */
typedef enum axe_trn_when {
    AXE_TRN_ALWAYS,
    AXE_TRN_WIDE,      /* operands of 4 bytes that are not tf32 */
    AXE_TRN_PSUM_SBUF, /* two tiles, one in each */
    AXE_TRN_FAST_BF16, /* all bf16 in SBUF and dense; add, subtract, multiply */
    AXE_TRN_FOLD_BF16, /* bf16 in and out; add, maximum */
    AXE_TRN_ZERO_TWO   /* 0 into elements of 2 bytes */
} axe_trn_when;

enum {
#define LIMIT(id, value, text) AXE_TRN_##id = (value),
#include "machine/trainium/limits.def"
    AXE_TRN_MAX_ROLE = 4,
    AXE_TRN_MAX_ARG = 8
};

typedef struct axe_trn_memory_row {
    const char *word;
    int         partitions, bytes, bank;
    const char *text;
} axe_trn_memory_row;

typedef struct axe_trn_engine_row {
    const char *name;
    double      ghz;
    unsigned    reads, writes; /* sets of memories */
    const char *text;
} axe_trn_engine_row;

typedef struct axe_trn_arg_row {
    axe_trn_op    op;
    const char   *name;
    axe_trn_kind  kind;
    unsigned      memories;
    axe_trn_types types;
    const char   *layout;
} axe_trn_arg_row;

typedef struct axe_trn_op_row {
    const char *name;
    unsigned    engines; /* bits 1 << engine */
    const char *text;
} axe_trn_op_row;

typedef struct axe_trn_function_row {
    const char *name;
    bool        act; /* of the scalar engine */
    int         arguments;
} axe_trn_function_row;

typedef struct axe_trn_cost_row {
    axe_trn_op     op;
    axe_trn_engine engine;
    axe_trn_when   when;
    int            times, base, least;
    const char    *least_of;
    int            by, per;
    const char    *of;
} axe_trn_cost_row;

/* What the timing model counts with: a column of params.def. */
typedef struct axe_trn_params {
#define PARAM(id, legacy, doc, unit, source) double id;
#include "machine/trainium/params.def"
} axe_trn_params;

extern const axe_trn_memory_row   axe_trn_memories[AXE_TRN_N_MEMORY];
extern const axe_trn_engine_row   axe_trn_engines[AXE_TRN_N_ENGINE];
extern const axe_trn_op_row       axe_trn_ops[AXE_TRN_N_OP];
extern const axe_trn_function_row axe_trn_functions[AXE_TRN_N_FUNCTION];

/* The arguments of an instruction, in order; how many. */
const axe_trn_arg_row *axe_trn_args(axe_trn_op op, int *n);
/* At most so many values has a role of it; INT64_MAX: any number. */
int64_t axe_trn_most(axe_trn_op op, char role);
/* Is the type one of them? */
bool axe_trn_type_in(axe_trn_types set, axe_type t);
/* The roles that a layout's text begins with, one letter each: "kn". */
void axe_trn_roles(const char *layout, char roles[AXE_TRN_MAX_ROLE + 1]);
/* The layout of an argument whose roles have these extents, as text that
 * axe_layout_read takes. */
const char *axe_trn_layout(axe_ctx *cx, const axe_trn_arg_row *a,
                           const int64_t extent[AXE_TRN_MAX_ROLE]);
/* A row's cycles; role[c] says how many values role c has. */
double axe_trn_cycles(const axe_trn_cost_row *row, const int64_t role[128]);
const axe_trn_cost_row *axe_trn_costs(int *n);

/* "legacy" or "doc"; ENAME with a suggestion. */
AXE_CHECK axe_status axe_trn_profile(axe_ctx *cx, const char *name,
                                     axe_trn_params *out);
/* "NAME=VALUE" into *out; ENAME, ESYNTAX. */
AXE_CHECK axe_status axe_trn_set_param(axe_ctx *cx, const char *text,
                                       axe_trn_params *out);
/* A line each: name, value, unit, source. */
void axe_trn_put_params(axe_buf *out, const axe_trn_params *p);

/* Which of n rows of a table has that name at its `field`; -1: none. */
int axe_trn_find_op(const char *name);
int axe_trn_find_engine(const char *name);
int axe_trn_find_memory(const char *word);
int axe_trn_find_function(const char *name);
/* The names of each, for suggestions and lists. */
const char *const *axe_trn_op_names(void);
const char *const *axe_trn_function_names(void);
const char *const *axe_trn_engine_names(void);

#endif
