/* opencl_matrix.h - the functions of
 * cl_intel_subgroup_matrix_multiply_accumulate in OpenCL C, as the extension's
 * text defines them, for devices that have none: lane n gives column n of b, a
 * word of it after the other, and its share of each row of a, which lies over
 * the lanes in order. */
#ifndef OPENCL_MATRIX_H
#define OPENCL_MATRIX_H

#include "base/text.h"

typedef struct matrix_kind {
    const char *a, *b, *sum; /* "f16", "i8", "float" */
    int         k, bits;
} matrix_kind;

static const matrix_kind matrix_kinds[] = {
    {"f16", "f16", "float", 16, 16}, {"bf16", "bf16", "float", 16, 16},
    {"i8", "i8", "int", 32, 8},      {"i8", "u8", "int", 32, 8},
    {"u8", "i8", "int", 32, 8},      {"u8", "u8", "int", 32, 8},
};

static const char matrix_elements[] =
    "float el_f16(uint w, int i) { return (float)as_half((ushort)(w >> 16 * "
    "i));"
    " }\n"
    "float el_bf16(uint w, int i) { return as_float(w >> 16 * i << 16); }\n"
    "int el_i8(uint w, int i) { return (char)(w >> 8 * i); }\n"
    "int el_u8(uint w, int i) { return (uchar)(w >> 8 * i); }\n";

/* One row of a times b, onto c. */
static inline void
matrix_row(axe_buf *out, const matrix_kind *m, int width)
{
    axe_putf(out,
             "%s row_%s_%s(int a, uint8 b, %s c)\n{\n"
             "    uint w[8];\n    vstore8(b, 0, w);\n"
             "    for (int k = 0; k < %d; k++)\n"
             "        c += el_%s((uint)sub_group_shuffle(a, k / %d), k %% %d) *"
             " el_%s(w[k / %d], k %% %d);\n    return c;\n}\n",
             m->sum, m->a, m->b, m->sum, m->k, m->a, m->k / width, m->k / width,
             m->b, 32 / m->bits, 32 / m->bits);
}

/* Of `rows` rows: 1, 2, 4 or 8. */
static inline void
matrix_function(axe_buf *out, const matrix_kind *m, int width, int rows)
{
    const char *n = rows == 1 ? "" : rows == 2 ? "2" : rows == 4 ? "4" : "8";
    const char *sign = m->a[0] == 'u' ? "u" : "";

    axe_putf(
        out,
        "%s%s __attribute__((overloadable))\n"
        "intel_sub_group_%s_%s_matrix_mad_k%d(%s%s%s a, %s b, %s%s c)\n{\n",
        m->sum, n, m->a, m->b, m->k, sign, width == 8 ? "int" : "short", n,
        m->b[0] == 'u' ? "uint8" : "int8", m->sum, n);
    for (int i = 0; i < rows; i++) {
        const char *s = rows == 1 ? "" : axe_textf(out->cx, ".s%d", i);
        axe_putf(out, "    c%s = row_%s_%s(a%s, as_uint8(b), c%s);\n", s, m->a,
                 m->b, s, s);
    }
    axe_puts(out, "    return c;\n}\n");
}

static inline void
matrix_text(axe_buf *out, int width)
{
    axe_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    axe_puts(out, matrix_elements);
    for (int i = 0; i < AXE_LEN(matrix_kinds); i++) {
        matrix_row(out, &matrix_kinds[i], width);
        for (int rows = 1; rows <= 8; rows *= 2)
            matrix_function(out, &matrix_kinds[i], width, rows);
    }
}

#endif
