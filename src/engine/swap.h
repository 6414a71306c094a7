/* swap.h - descriptors of open files from rank to rank. */
#ifndef AXE_ENGINE_SWAP_H
#define AXE_ENGINE_SWAP_H

#include "engine/engine.h"

/* All ranks, on one host.
 * mine    stays the caller's; -1: this rank gives none
 * out     [size] the others', to be closed; -1 of this rank, of those that give
 *         none, and of all where it fails
 * Errors  EIO with the system's words; EDEVICE as of all that waits */
AXE_CHECK axe_status engine_swap_descriptors(axe_engine *e, int mine, int *out);

#endif
