/* trainium.c - the tables in trainium/, and looking things up in them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/trainium.h"

const axe_trn_memory_row axe_trn_memories[AXE_TRN_N_MEMORY] = {
#define MEMORY(id, word, partitions, bytes, bank, text)                        \
    {word, partitions, bytes, bank, text},
#include "machine/trainium/memories.def"
};

#define HBM AXE_TRN_IN_HBM
#define SBUF AXE_TRN_IN_SBUF
#define PSUM AXE_TRN_IN_PSUM
#define NONE AXE_TRN_IN_NONE
const axe_trn_engine_row axe_trn_engines[AXE_TRN_N_ENGINE] = {
#define ENGINE(id, ghz, reads, writes, text) {#id, ghz, reads, writes, text},
#include "machine/trainium/engines.def"
};

#define ENG(id) (1U << AXE_TRN_##id)
const axe_trn_op_row axe_trn_ops[AXE_TRN_N_OP] = {
#define OP(id, engines, text) {#id, engines, text},
#define ROLE(op, role, most)
#define ARG(op, id, kind, memories, types, layout)
#include "machine/trainium/ops.def"
};

static const axe_trn_arg_row args[] = {
#define OP(id, engines, text)
#define ROLE(op, role, most)
#define ARG(op, id, kind, memories, types, layout)                             \
    {AXE_TRN_OP_##op,       #id,   AXE_TRN_##kind, memories,                   \
     AXE_TRN_TYPES_##types, layout},
#include "machine/trainium/ops.def"
};
#undef HBM
#undef SBUF
#undef PSUM
#undef NONE

static const struct {
    axe_trn_op op;
    char       role;
    int64_t    most;
} roles[] = {
#define OP(id, engines, text)
#define ROLE(op, role, most) {AXE_TRN_OP_##op, #role[0], most},
#define ARG(op, id, kind, memories, types, layout)
#include "machine/trainium/ops.def"
};

static const unsigned type_sets[AXE_TRN_N_TYPES] = {
#define T(id) (1U << AXE_TYPE_##id)
#define TYPES(id, mask) mask,
#include "machine/trainium/types.def"
#undef T
};

enum { ALU, ACT };
const axe_trn_function_row axe_trn_functions[AXE_TRN_N_FUNCTION] = {
#define FUNCTION(id, who, arguments, value) {#id, who == ACT, arguments},
#include "machine/trainium/functions.def"
};

static const axe_trn_cost_row costs[] = {
#define COST(op, engine, when, times, base, least, least_of, by, per, of)      \
    {AXE_TRN_OP_##op,                                                          \
     AXE_TRN_##engine,                                                         \
     AXE_TRN_##when,                                                           \
     times,                                                                    \
     base,                                                                     \
     least,                                                                    \
     least_of,                                                                 \
     by,                                                                       \
     per,                                                                      \
     of},
#include "machine/trainium/costs.def"
};

static const struct {
    const char *name;
    size_t      at;
    double      legacy, doc;
    const char *unit, *source;
} params[] = {
#define PARAM(id, legacy, doc, unit, source)                                   \
    {#id, offsetof(axe_trn_params, id), legacy, doc, unit, source},
#include "machine/trainium/params.def"
};

const axe_trn_arg_row *
axe_trn_args(axe_trn_op op, int *n)
{
    int first = 0;

    while (args[first].op != op)
        first++;
    for (*n = 0; first + *n < AXE_LEN(args) && args[first + *n].op == op;)
        ++*n;
    return &args[first];
}

int64_t
axe_trn_most(axe_trn_op op, char role)
{
    for (int i = 0; i < AXE_LEN(roles); i++)
        if (roles[i].op == op && roles[i].role == role)
            return roles[i].most;
    return INT64_MAX;
}

bool
axe_trn_type_in(axe_trn_types set, axe_type t)
{
    return (type_sets[set] >> t & 1) != 0;
}

void
axe_trn_roles(const char *layout, char out[AXE_TRN_MAX_ROLE + 1])
{
    int n = 0;

    for (const char *s = layout; *s && *s != ']'; s++)
        if (islower((unsigned char)*s) && n < AXE_TRN_MAX_ROLE)
            out[n++] = *s;
    out[n] = '\0';
}

const char *
axe_trn_layout(axe_ctx *cx, const axe_trn_arg_row *a,
               const int64_t extent[AXE_TRN_MAX_ROLE])
{
    axe_buf     b = {.cx = cx};
    char        role[AXE_TRN_MAX_ROLE + 1];
    const char *s = strchr(a->layout, ']');

    axe_trn_roles(a->layout, role);
    for (s = s ? s + 2 : a->layout; *s; s++) {
        const char *at = isupper((unsigned char)*s) && s[-1] != '@'
                             ? strchr(role, tolower((unsigned char)*s))
                             : NULL;
        if (at)
            axe_putf(&b, "%lld", (long long)extent[at - role]);
        else
            axe_putc(&b, *s);
    }
    return b.text;
}

const axe_trn_cost_row *
axe_trn_costs(int *n)
{
    *n = AXE_LEN(costs);
    return costs;
}

double
axe_trn_cycles(const axe_trn_cost_row *row, const int64_t role[128])
{
    double count = row->by, least = row->least;

    for (const char *s = row->of; *s; s++)
        if (*s != ' ')
            count *= (double)role[(unsigned char)*s & 127];
    if (*row->least_of)
        least =
            fmin(least, (double)role[(unsigned char)row->least_of[0] & 127]);
    return row->times * (row->base + fmax(least, count / row->per));
}

axe_status
axe_trn_profile(axe_ctx *cx, const char *name, axe_trn_params *out)
{
    bool legacy = strcmp(name, "legacy") == 0;

    if (!legacy && strcmp(name, "doc") != 0) {
        axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no profile '%s'", name);
        axe_help(cx, "known: legacy, doc");
        return AXE_ENAME;
    }
    for (int i = 0; i < AXE_LEN(params); i++)
        memcpy((char *)out + params[i].at,
               legacy ? &params[i].legacy : &params[i].doc, sizeof(double));
    return AXE_OK;
}

static int
find_param(const char *name, size_t n)
{
    for (int i = 0; i < AXE_LEN(params); i++)
        if (strlen(params[i].name) == n && memcmp(params[i].name, name, n) == 0)
            return i;
    return -1;
}

typedef struct range {
    double      least, most;
    const char *text;
} range;

/* Counts, what the model divides by, and the rest. */
static range
range_of(size_t at)
{
    static const size_t by[] = {offsetof(axe_trn_params, dma_gbs),
                                offsetof(axe_trn_params, hbm_gbs),
                                offsetof(axe_trn_params, dma_partitions),
                                offsetof(axe_trn_params, weights_per)};

    if (at == offsetof(axe_trn_params, dma_engines) ||
        at == offsetof(axe_trn_params, dma_queues))
        return (range){1, 64, "from 1 to 64"};
    for (int i = 0; i < AXE_LEN(by); i++)
        if (at == by[i])
            return (range){1e-9, 1e9, "above 0, to 1e9"};
    return (range){0, 1e9, "from 0 to 1e9"};
}

axe_status
axe_trn_set_param(axe_ctx *cx, const char *text, axe_trn_params *out)
{
    size_t n = strcspn(text, "=");
    int    i = find_param(text, n);
    char  *end = NULL;
    double value = text[n] ? strtod(text + n + 1, &end) : 0;

    if (i < 0) {
        const char *names[AXE_LEN(params)];
        for (int k = 0; k < AXE_LEN(params); k++)
            names[k] = params[k].name;
        const char *name = axe_textf(cx, "%.*s", (int)n, text);
        const char *near = axe_nearest(name, AXE_LEN(params), names);
        axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no parameter '%s'",
                 name);
        axe_help(cx, near ? "did you mean '%s'?" : "see `axe trace --params`%s",
                 near ? near : "");
        return AXE_ENAME;
    }
    range of = range_of(params[i].at);
    if (!end || end == text + n + 1 || *end || !(value >= of.least) ||
        !(value <= of.most))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESYNTAX,
                        "'%s' is no value of %s: a number %s", text,
                        params[i].name, of.text);
    memcpy((char *)out + params[i].at, &value, sizeof value);
    return AXE_OK;
}

void
axe_trn_put_params(axe_buf *out, const axe_trn_params *p)
{
    for (int i = 0; i < AXE_LEN(params); i++) {
        double value;
        memcpy(&value, (const char *)p + params[i].at, sizeof value);
        axe_putf(out, "%-16s %8g %-6s %s\n", params[i].name, value,
                 params[i].unit, params[i].source);
    }
}

#define FIND(table, n, field)                                                  \
    for (int i_ = 0; i_ < (n); i_++)                                           \
        if (strcmp((table)[i_].field, name) == 0)                              \
            return i_;                                                         \
    return -1

int
axe_trn_find_op(const char *name)
{
    FIND(axe_trn_ops, AXE_TRN_N_OP, name);
}

int
axe_trn_find_engine(const char *name)
{
    FIND(axe_trn_engines, AXE_TRN_N_ENGINE, name);
}

int
axe_trn_find_memory(const char *name)
{
    FIND(axe_trn_memories, AXE_TRN_N_MEMORY, word);
}

int
axe_trn_find_function(const char *name)
{
    FIND(axe_trn_functions, AXE_TRN_N_FUNCTION, name);
}

const char *const *
axe_trn_op_names(void)
{
    static const char *const names[] = {
#define OP(id, engines, text) #id,
#define ROLE(op, role, most)
#define ARG(op, id, kind, memories, types, layout)
#include "machine/trainium/ops.def"
    };
    return names;
}

const char *const *
axe_trn_function_names(void)
{
    static const char *const names[] = {
#define FUNCTION(id, who, arguments, value) #id,
#include "machine/trainium/functions.def"
    };
    return names;
}

const char *const *
axe_trn_engine_names(void)
{
    static const char *const names[] = {
#define ENGINE(id, ghz, reads, writes, text) #id,
#include "machine/trainium/engines.def"
    };
    return names;
}

/* ------------------------------------------------- what kernels compile for */

static const axe_compute_row types[] = {
#define COMPUTE(type, compute) {AXE_TYPE_##type, AXE_TYPE_##compute, ""},
#include "machine/trainium/kernels.def"
};

static const axe_machine machines[] = {
    {.name = "trn1",
     .family = "trainium",
     .kind = AXE_KIND_systolic,
     .language = AXE_LANGUAGE_nki,
     .arch = "trn1",
     .vector_bits = 128 * 32, /* a lane for each partition */
     .n_vreg = 1,
     .ghz = 1.4,
     .features = "",
     .engines = true,
     .n_compute = AXE_LEN(types),
     .compute = types},
};

const axe_family axe_trainium_machines = {"trainium", AXE_LEN(machines),
                                          machines};
