/* lanes.c - lanes of a warp exchange registers, and matrices of 8 rows of 16
 * bytes with shared memory. */
#include <string.h>

#include "ptx.h"

ptx_result
ptx_shuffle(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    bool     bfly = strstr(i->op->name, "bfly") != NULL;
    uint64_t x[N_LANE], c;

    if (i->n_arg != 5 || ptx_same(w, i, i->arg[3].op, lanes, &c) != PTX_DONE)
        return ptx_wrong(w, i, "this form is not known");
    if (c != 31)
        return ptx_wrong(w, i, "segments of a warp are not known");
    for (int l = 0; l < N_LANE; l++)
        x[l] = ptx_get(w, i->arg[1].op, l);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t n = ptx_get(w, i->arg[2].op, l) & 31;
        uint64_t from = bfly ? (uint64_t)l ^ n : n;
        if (!(lanes >> from & 1))
            return ptx_wrong(w, i, "lane %llu takes no part",
                             (unsigned long long)from);
        ptx_put(w, &i->arg[0].op[0], l, x[from]);
        if (i->arg[0].n > 1)
            ptx_put(w, &i->arg[0].op[1], l, 1);
    }
    return PTX_DONE;
}

/* Row r of matrix j is at the address of lane 8 j + r. */
static unsigned char *
row_at(ptx_warp *w, const ptx_insn *i, const ptx_arg *a, int j, int r,
       ptx_access how)
{
    return ptx_shared(w, i, ptx_address(w, a, 8 * j + r), 16, 16, how);
}

/* The element of lane l's half h: row and column, or turned. */
static void
element_of(const ptx_insn *i, int l, int h, int *row, int *column)
{
    *row = l / 4;
    *column = l % 4 * 2 + h;
    if (ptx_has(i, W_TRANS)) {
        int r = *row;
        *row = *column;
        *column = r;
    }
}

ptx_result
ptx_load_matrix(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint16_t m[8][8];

    if (i->arg[0].n != i->count || i->type[0]->bits != 16)
        return ptx_wrong(w, i, "this form is not known");
    for (int j = 0; j < i->count; j++) {
        for (int r = 0; r < 8; r++) {
            const unsigned char *p = row_at(w, i, &i->arg[1], j, r, A_READ);
            if (!p)
                return PTX_WRONG;
            memcpy(m[r], p, 16);
        }
        for (uint32_t left = lanes; left; left &= left - 1) {
            int      l = ptx_first(left), row, column;
            uint64_t v = 0;
            for (int h = 0; h < 2; h++) {
                element_of(i, l, h, &row, &column);
                v |= (uint64_t)m[row][column] << 16 * h;
            }
            ptx_put(w, &i->arg[0].op[j], l, v);
        }
    }
    return PTX_DONE;
}

/* 16 x 8 bytes a matrix, turned: a row in memory is a column of 16.  Lane l
 * has rows l / 4 and l / 4 + 8 ... of columns 2 (l % 4) and the next, in the
 * order of the ISA's fragment: byte b is column b % 2, row l / 4 + b / 2 * 8.
 */
static uint64_t
byte_of(const ptx_warp *w, const ptx_insn *i, int j, int row, int column)
{
    int lane = row % 8 * 4 + column / 2, byte = row / 8 * 2 + column % 2;

    return ptx_get(w, &i->arg[1].op[j], lane) >> 8 * byte & 255;
}

static ptx_result
store_bytes(ptx_warp *w, const ptx_insn *i)
{
    for (int j = 0; j < i->count; j++)
        for (int c = 0; c < 8; c++) {
            unsigned char *p = row_at(w, i, &i->arg[0], j, c, A_WRITE);
            if (!p)
                return PTX_WRONG;
            for (int r = 0; r < 16; r++)
                p[r] = (unsigned char)byte_of(w, i, j, r, c);
        }
    return PTX_DONE;
}

ptx_result
ptx_store_matrix(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint16_t m[8][8];

    (void)lanes;
    if (i->arg[1].n != i->count)
        return ptx_wrong(w, i, "this form is not known");
    if (i->type[0]->bits == 8)
        return store_bytes(w, i);
    for (int j = 0; j < i->count; j++) {
        for (int l = 0; l < N_LANE; l++)
            for (int h = 0; h < 2; h++) {
                int row, column;
                element_of(i, l, h, &row, &column);
                m[row][column] =
                    (uint16_t)(ptx_get(w, &i->arg[1].op[j], l) >> 16 * h);
            }
        for (int r = 0; r < 8; r++) {
            unsigned char *p = row_at(w, i, &i->arg[0], j, r, A_WRITE);
            if (!p)
                return PTX_WRONG;
            memcpy(p, m[r], 16);
        }
    }
    return PTX_DONE;
}

ptx_result
ptx_move_matrix(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint16_t m[8][8];

    (void)lanes;
    for (int l = 0; l < N_LANE; l++)
        for (int h = 0; h < 2; h++)
            m[l / 4][l % 4 * 2 + h] =
                (uint16_t)(ptx_get(w, i->arg[1].op, l) >> 16 * h);
    for (int l = 0; l < N_LANE; l++) {
        uint64_t v = 0;
        for (int h = 0; h < 2; h++)
            v |= (uint64_t)m[l % 4 * 2 + h][l / 4] << 16 * h;
        ptx_put(w, i->arg[0].op, l, v);
    }
    return PTX_DONE;
}
