/* aot_int.c - kernels as C functions: names, types, arguments, checks. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "print/aot/aot_int.h"

const char *
axe_aot_name(axe_ctx *cx, const char *name)
{
    char *s = axe_textf(cx, "%s", name);

    for (char *c = s; *c; c++)
        *c = *c == '.' ? '_' : *c;
    return axe_host_name(cx, s);
}

const char *
axe_aot_type(axe_type t)
{
    static const char *const by_bits[2][9] = {
        {[1] = "int8_t", [2] = "int16_t", [4] = "int32_t", [8] = "int64_t"},
        {[1] = "uint8_t",
         [2] = "uint16_t",
         [4] = "uint32_t",
         [8] = "uint64_t"}};
    int bytes = axe_type_table[t].bits / 8;

    if (t == AXE_TYPE_f64)
        return "double";
    if (t == AXE_TYPE_f32 || t == AXE_TYPE_tf32)
        return "float";
    return by_bits[axe_type_table[t].cls != AXE_CLASS_INT][bytes];
}

axe_status
axe_aot_check_params(axe_ctx *cx, const axe_kernel *k)
{
    for (int i = 0; i < k->n_param; i++)
        if (axe_type_table[k->param[i]->type].bits % 8 != 0)
            return axe_fail(cx, k->param[i]->at, AXE_EUNSUPPORTED,
                            "%s: elements of %s are no whole bytes, so C has "
                            "no type for them",
                            k->param[i]->name,
                            axe_type_table[k->param[i]->type].name);
    return AXE_OK;
}

void
axe_aot_arguments(axe_ctx *cx, axe_buf *b, const axe_kernel *k,
                  const char *memory)
{
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        const char       *name = axe_aot_name(cx, t->name);
        axe_puts(b, i ? ", " : "");
        if (memory && !axe_is_scalar(t))
            axe_putf(b, "%s%s", memory, name);
        else
            axe_putf(b, "%s%s %s%s",
                     t->dir == AXE_DIR_IN && !axe_is_scalar(t) ? "const " : "",
                     axe_aot_type(t->type), axe_is_scalar(t) ? "" : "*", name);
    }
    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            axe_putf(b, "%sint64_t %s", i + k->n_param ? ", " : "",
                     axe_aot_name(cx, k->size[i]->name));
    if (k->n_param + k->n_size == 0)
        axe_puts(b, "void");
}

void
axe_aot_sizes(axe_cprinter *p, axe_buf *b, const axe_kernel *k)
{
    for (int i = 0; i < k->n_size; i++) {
        const axe_tensor *from = axe_size_source(k, k->size[i]);
        axe_putf(b, "    const i64 %s = %s%s;\n", axe_c_var(p, k->size[i]),
                 from ? "(i64)" : "",
                 axe_aot_name(p->cx, from ? from->name : k->size[i]->name));
    }
}

void
axe_aot_check_sizes(axe_cprinter *p, axe_buf *b, const axe_kernel *k)
{
    for (int i = 0; i < k->n_size; i++)
        if (!strchr(k->size[i]->name, '.') || axe_size_source(k, k->size[i]))
            axe_putf(b,
                     "    if (!status && %s < 0)\n"
                     "        status = AXE_AOT_EARG;\n",
                     axe_c_var(p, k->size[i]));
}

static const char *
stride_text(axe_ctx *cx, axe_stride s)
{
    const char *unit = axe_unit_text(cx, s.unit);

    if (s.unit == AXE_UNIT_ONE)
        return axe_textf(cx, "%" PRId64, s.coef);
    return s.coef == 1 ? unit : axe_textf(cx, "%" PRId64 "*%s", s.coef, unit);
}

void
axe_aot_doc(axe_ctx *cx, axe_buf *b, const axe_kernel *k)
{
    static const char *const does[] = {[AXE_DIR_LOCAL] = "",
                                       [AXE_DIR_IN] = "read",
                                       [AXE_DIR_OUT] = "written",
                                       [AXE_DIR_INOUT] = "read and written"};

    axe_putf(b, "\n/* kernel %s\n", k->name);
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        axe_putf(b, " *   %s: %s", axe_aot_name(cx, t->name),
                 axe_type_table[t->type].name);
        if (axe_is_scalar(t)) {
            axe_puts(b, axe_type_is_float(t->type) &&
                                axe_type_table[t->type].bits < 32
                            ? ", its bits, by value\n"
                            : ", by value\n");
            continue;
        }
        axe_putc(b, '[');
        for (int d = 0; d < t->rank; d++)
            axe_putf(b, "%s%s", d ? ", " : "", axe_node_text(cx, t->shape[d]));
        axe_puts(b, "], strides (");
        for (int d = 0; d < t->rank; d++)
            axe_putf(b, "%s%s", d ? ", " : "", stride_text(cx, t->stride[d]));
        axe_putf(b, "), %s\n", does[t->dir]);
    }
    axe_puts(b, " * What is written overlaps nothing else. */\n");
}

axe_status
axe_aot_check(axe_cprinter *p, axe_buf *b, const axe_tensor *t, const char *by)
{
    const char *name = axe_aot_name(p->cx, t->name);
    bool        strided = false;

    if (axe_is_scalar(t))
        return AXE_OK;
    axe_putf(b, "    const i64 e_%s[] = {", name);
    for (int d = 0; d < t->rank; d++) {
        axe_puts(b, d ? ", " : "");
        AXE_TRY(axe_c_index(p, b, t->shape[d]));
        strided = strided || strchr(stride_text(p->cx, t->stride[d]), '.');
    }
    axe_puts(b, t->rank ? "};\n" : "0};\n");
    if (strided)
        axe_putf(b, "    const i64 d_%s[] = {", name);
    for (int d = 0; d < t->rank && strided; d++)
        axe_putf(b, "%s%s", d ? ", " : "",
                 axe_c_name(p->cx, "s", stride_text(p->cx, t->stride[d])));
    axe_puts(b, strided ? "};\n" : "");
    axe_putf(b,
             "    if (!status)\n"
             "        status = %s(%s, %d, %d, e_%s, %s%s);\n",
             by, name, axe_type_table[t->type].bits / 8, t->rank, name,
             strided ? "d_" : "0", strided ? name : "");
    return AXE_OK;
}

const char *
axe_aot_guard(axe_ctx *cx, const char *name)
{
    char *guard = axe_textf(cx, "AXE_AOT_%s", name);

    for (char *c = guard; *c; c++)
        *c =
            isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    return guard;
}

void
axe_aot_bytes(axe_buf *b, int number, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    axe_putf(b,
             "\nstatic const _Alignas(16) unsigned char axe_bytes%d[%zu] = {",
             number, bytes);
    for (size_t i = 0; i < bytes; i++)
        axe_putf(b, "%s%d,", i % 20 == 0 ? "\n    " : "", p[i]);
    axe_puts(b, "\n};\n");
}
