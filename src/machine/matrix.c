/* matrix.c - the meaning of descriptors of matrices in shared memory.
 *
 * The PTX ISA, "matrix descriptor" and "canonical layouts", in units of 16
 * bytes (T), with a swizzle of W bytes, of rows by k:
 *
 *   along k, no swizzle      ((8, m), (T, 2))     : ((1T, SBO), (1, LBO))
 *   along k, W               ((8, m), (T, W/T))   : ((W,  SBO), (1, T))
 *   along rows, no swizzle   ((T, m), (8, k))     : ((1, SBO), (1T, LBO))
 *   along rows, W            ((W, m), (8, k))     : ((1, LBO), (W, SBO))
 *
 * So without a swizzle the leading offset is the step along k whatever the
 * order, and with one that along the rows of a major matrix. */
#include "machine/matrix.h"

#include <stddef.h>

enum { LINES = 8, PIECE = 16 };

static int64_t
field(uint64_t bits, int at)
{
    return (int64_t)(bits >> at & 0x3fff) * PIECE;
}

/* Swizzles in 3 bits of tcgen05, 1 being that of atoms of 32 bytes, and in 2 of
 * wgmma; -1: none that is known here. */
static int
span_of(uint64_t bits, bool of_tcgen05)
{
    static const int three[8] = {16, -1, 128, -1, 64, -1, 32, -1};
    static const int two[4] = {16, 128, 64, 32};

    return of_tcgen05 ? three[bits >> 61] : two[bits >> 62];
}

const char *
axe_matrix_read(uint64_t bits, bool of_tcgen05, axe_matrix *out)
{
    *out = (axe_matrix){.start = field(bits, 0),
                        .lead = field(bits, 16),
                        .stride = field(bits, 32),
                        .span = span_of(bits, of_tcgen05)};
    if (out->span < 0)
        return "has a swizzle that is not known";
    if ((bits >> 49 & 7) != 0)
        return "has an offset of its base";
    if (of_tcgen05 && (bits >> 46 & 7) != 1)
        return "is not of the version that tcgen05 has";
    if (of_tcgen05 && (bits >> 52 & 1) != 0)
        return "has a leading offset that is an address";
    return NULL;
}

int64_t
axe_matrix_at(const axe_matrix *m, bool major, int64_t slow, int64_t fast)
{
    int64_t line = slow % LINES * m->span, block = slow / LINES;
    int64_t in = fast % m->span, piece = fast / m->span;

    if (m->span > PIECE)
        return line + block * m->stride + in + piece * m->lead;
    return major ? in + piece * m->stride + line + block * m->lead
                 : in + piece * m->lead + line + block * m->stride;
}
