/* operand_path.h - between the files that plan contractions of many threads. */
#ifndef AXE_PLAN_SIMT_CONTRACT_OPERAND_PATH_H
#define AXE_PLAN_SIMT_CONTRACT_OPERAND_PATH_H

#include "plan/access/contract_roles.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/simt.h"

/* What a factor is fed from. */
typedef struct axe_factor_query {
    axe_planner            *p;
    const axe_thread_group *threads;
    const axe_atom         *atom;
    int                     side;            /* 1: a, 2: b */
    const axe_layout       *inner;           /* the atom's, (row, k) */
    const axe_spread       *row, *k, *other; /* m, k, n for a */
    axe_type                type;
    const axe_layout *held; /* a tile in registers, (row, k) over threads and
                               reg; NULL: it is in memory */
    const axe_layout *mem;  /* (row, k) on m */
    axe_swizzle       swizzle;
    int64_t           align; /* [bytes] of where mem is 0 */
    axe_frag_known  **known; /* loads from there that were asked for */
} axe_factor_query;

/* simt/map/smem_descriptor.c: as a tile that the atom reads itself.
 * why     what is in the way */
bool axe_desc_fit(const axe_factor_query *q, axe_descriptor *out,
                  const char **why);

/* The bits of a descriptor, of address 0, of a matrix whose atoms of the
 * swizzle lie so many bytes apart along the fast and the slow dimension.
 * major   the sum index is the slow one */
uint64_t axe_desc_bits(const axe_simt *m, axe_swizzle s, int64_t lead,
                       int64_t stride, bool major);

/* simt/tmem/copy.c: the layout of a shared tile from which the row *by copies
 * to t, laid out in tensor memory, whole blocks of it; NULL: there is none. And
 * the copies from a tile that is laid out; false: no row does it. */
const axe_layout *axe_tcopy_layout(axe_planner *p, const axe_tensor *t,
                                   const axe_atom **by);
bool axe_tcopy_fit(axe_planner *p, const axe_tensor *to, const axe_tensor *from,
                   axe_simt_tcopy *out);

/* tmem_operand.c: as a tile in tensor memory that the atom reads itself; of
 * `out` steps alone count.  And the layout, over (row, k), that an open one of
 * so many rows and sums should have, of which the factor may be a part; or
 * NULL.
 */
bool              axe_tmem_fit(const axe_factor_query *q, axe_descriptor *out,
                               const char **why);
const axe_layout *axe_tmem_wanted(const axe_factor_query *q, int64_t rows,
                                  int64_t sums);

/* register_operand.c: as a tile that the threads hold already, for atoms that
 * read registers. */
bool axe_held_fit(const axe_factor_query *q, axe_factor *out, const char **why);

/* operand_registers.c: what the thread group should hold of the factor, over
 * (row, k); for so many steps of k at a time as f->chunk, of axe_factor_chunk.
 */
const axe_layout *axe_factor_layout(const axe_factor_query *q);
const axe_layout *axe_factor_fragment(const axe_factor_query *q, axe_factor *f);
int64_t           axe_factor_chunk(const axe_factor_query *q);

/* operand_path.c */
bool axe_factor_fit(const axe_factor_query *q, axe_factor *out,
                    const char **why);
/* Cycles of shared memory that one iteration of the statement takes for it. */
double axe_factor_cycles(const axe_factor_query *q, const axe_factor *f);

/* operand_layout.c: layouts for an open shared tile whose fast dimension is
 * `fast`, best first; how many, at most AXE_MAX_SHARED. */
enum { AXE_MAX_SHARED = 5 };
int axe_shared_layouts(axe_planner *p, const axe_tensor *t, int fast,
                       const axe_layout *out[AXE_MAX_SHARED]);

#endif
