/* operand_path.h - between the files that plan contractions of many threads. */
#ifndef AXE_PLAN_SIMT_CONTRACT_OPERAND_PATH_H
#define AXE_PLAN_SIMT_CONTRACT_OPERAND_PATH_H

#include "plan/access/contract_roles.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/simt.h"

/* What a factor is fed from. */
typedef struct axe_feed_ask {
    planner          *p;
    const axe_crew   *crew;
    const axe_atom   *atom;
    int               side;            /* 1: a, 2: b */
    const axe_layout *inner;           /* the atom's, (row, k) */
    const axe_spread *row, *k, *other; /* m, k, n for a */
    axe_type          type;
    const axe_layout *held; /* a tile in registers, (row, k) over threads and
                               reg; NULL: it is in memory */
    const axe_layout *mem;  /* (row, k) on m */
    axe_swizzle       swizzle;
    int64_t           align; /* [bytes] of where mem is 0 */
    axe_frag_known  **known; /* loads from there that were asked for */
} axe_feed_ask;

/* simt/map/smem_descriptor.c: as a tile that the atom reads itself.
 * why     what is in the way */
bool axe_desc_fit(const axe_feed_ask *q, axe_descriptor *out, const char **why);

/* The bits of a descriptor, of address 0, of a matrix whose atoms of the
 * swizzle lie so many bytes apart along the fast and the slow dimension.
 * major   the sum index is the slow one */
uint64_t axe_desc_bits(const axe_simt *m, axe_swizzle s, int64_t lead,
                       int64_t stride, bool major);

/* simt/tmem/copy.c: the layout of a shared tile from which the row *by copies
 * to t, laid out in tensor memory, whole blocks of it; NULL: there is none. And
 * the copies from a tile that is laid out; false: no row does it. */
const axe_layout *axe_tcopy_layout(planner *p, const axe_tensor *t,
                                   const axe_atom **by);
bool axe_tcopy_fit(planner *p, const axe_tensor *to, const axe_tensor *from,
                   axe_simt_tcopy *out);

/* tmem_operand.c: as a tile in tensor memory that the atom reads itself; of
 * `out` steps alone count.  And the layout, over (row, k), that an open one of
 * so many rows and sums should have, of which the factor may be a part; or
 * NULL.
 */
bool axe_tmem_fit(const axe_feed_ask *q, axe_descriptor *out, const char **why);
const axe_layout *axe_tmem_wanted(const axe_feed_ask *q, int64_t rows,
                                  int64_t sums);

/* register_operand.c: as a tile that the threads hold already, for atoms that
 * read registers. */
bool axe_held_fit(const axe_feed_ask *q, axe_feed *out, const char **why);

/* operand_registers.c: what the crew should hold of the factor, over (row, k);
 * for so many steps of k at a time as f->chunk, of axe_feed_chunk. */
const axe_layout *axe_feed_layout(const axe_feed_ask *q);
const axe_layout *axe_feed_fragment(const axe_feed_ask *q, axe_feed *f);
int64_t           axe_feed_chunk(const axe_feed_ask *q);

/* operand_path.c */
bool axe_feed_fit(const axe_feed_ask *q, axe_feed *out, const char **why);
/* Cycles of shared memory that one turn of the statement takes for it. */
double axe_feed_cycles(const axe_feed_ask *q, const axe_feed *f);

/* operand_layout.c: layouts for an open shared tile whose fast dimension is
 * `fast`, best first; how many, at most AXE_MAX_SHARED. */
enum { AXE_MAX_SHARED = 5 };
int axe_shared_layouts(planner *p, const axe_tensor *t, int fast,
                       const axe_layout *out[AXE_MAX_SHARED]);

#endif
