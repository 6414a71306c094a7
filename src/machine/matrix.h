/* matrix.h - matrices in shared memory as tensor cores find them.
 *
 * What the 64 bits of a descriptor mean, of wgmma and of tcgen05, written from
 * the PTX ISA and nothing else: planners and printers, which make descriptors,
 * use none of it, so that whoever reads them by it (the simulator,
 * certificates, tests) checks them. */
#ifndef AXE_MACHINE_MATRIX_H
#define AXE_MACHINE_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct axe_matrix {
    int64_t start, lead, stride; /* [bytes] */
    int     span;                /* [bytes] of the swizzle; 16: none */
} axe_matrix;

/* of_tcgen05: the descriptor is one of tcgen05, else of wgmma.
 * Returns NULL, or what is not known about it. */
const char *axe_matrix_read(uint64_t bits, bool of_tcgen05, axe_matrix *out);

/* [bytes] from `start`, before the swizzle, to byte `fast` (a multiple of the
 * 8 bits of an element) of line `slow`: lines are rows and go along k, or, of a
 * major matrix, are steps of k and go along rows. */
int64_t axe_matrix_at(const axe_matrix *m, bool major, int64_t slow,
                      int64_t fast);

#endif
