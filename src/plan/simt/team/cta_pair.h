/* cta_pair.h - tiles that the CTAs of a cluster hold in parts, see
 * cta_pair.c.
 */
#ifndef AXE_PLAN_SIMT_TEAM_CTA_PAIR_H
#define AXE_PLAN_SIMT_TEAM_CTA_PAIR_H

#include "plan/simt/contract/product.h"

/* CTAs that each hold a part of the tile, or of some tile of the ring; 1: all
 * of it. */
int64_t axe_tile_parts(const axe_planner *p, const axe_tensor *t);
int64_t axe_ring_parts(const axe_planner *p, const axe_pipeline *ring);
/* CTAs that the tile, whose layout is open, is said to be the same in. */
int64_t axe_tile_copies(const axe_planner *p, const axe_tensor *t);

/* May an atom for so many CTAs do the job; with 1: one for this CTA alone? */
bool axe_product_takes_pair(const axe_product *j, int64_t pair);
/* Why no atom for several CTAs does the job, though they hold the same right
 * factor; NULL: they do not, or nothing is in the way. */
const char *axe_product_unpaired(const axe_product *j);
/* How many CTAs a row is for, by its layout of b. */
int64_t axe_atom_pair(const axe_planner *p, const axe_layout *b);
/* What is one CTA's of a row's operand. */
const axe_layout *axe_side_of_one(const axe_planner *p, const axe_layout *l);
/* The layout of a tile whose dimension `dim` is in parts, of that of a part. */
const axe_layout *axe_layout_in_parts(const axe_planner *p, const axe_layout *l,
                                      int dim, int64_t parts);
/* A tile with the shape of a part; NULL: it does not divide. */
const axe_tensor *axe_tensor_part(const axe_planner *p, const axe_tensor *t,
                                  int dim, int64_t parts);
/* How a part lies in memory, of how the tile does over (row, k), where the CTA
 * does not move; NULL: it has no such parts. */
const axe_layout *axe_memory_of_one(const axe_planner *p, const axe_layout *l);

#endif
