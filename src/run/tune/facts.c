/* facts.c - descriptors of tensor cores, as `axe eval` is asked for them. */
#include "run/tune/facts.h"

#include <inttypes.h>
#include <string.h>

#include "mesh/ops.h"
#include "print/cuda/ask.h"

enum {
    MAX_NAME = 32,
    MAX_STAGE = 1 << 16,
    MAX_TILE = 1 << 20,
    PIECE = AXE_DESC_UNIT
};

const axe_eval_ops *
axe_machine_ops(void)
{
    static const axe_eval_op rows[] = {
#define OP(name, handler, keys, what) {#name, handler, keys, what, "nvidia"},
#include "run/tune/facts.def"
    };
    static const axe_eval_ops all = {AXE_LEN(rows), rows, &axe_mesh_table};

    return &all;
}

/* ----------------------------------------------------------------- arguments
 */

axe_status
axe_fact_text(axe_job *j, const char *key, const char **out)
{
    const axe_json *v = axe_json_get(j->in, key);

    *out = "";
    if (!v || v->kind == AXE_JSON_NULL)
        return AXE_OK;
    if (v->kind != AXE_JSON_TEXT || strlen(v->text) != v->len)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be a text, not %s", key,
                        axe_json_kind_text(v));
    *out = v->text;
    return AXE_OK;
}

axe_status
axe_fact_ints(axe_job *j, const char *key, int n, int64_t *out)
{
    const axe_json *v = axe_json_get(j->in, key);

    if (!v || v->kind == AXE_JSON_NULL)
        return AXE_OK;
    if (n == 1)
        return axe_json_to_int(j->cx, v, key, out);
    if (v->kind != AXE_JSON_LIST || v->n_child != n)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be a list of %d integers, not %s", key, n,
                        v->kind == AXE_JSON_LIST ? "of another length"
                                                 : axe_json_kind_text(v));
    for (v = v->child; v; v = v->next)
        AXE_TRY(axe_json_to_int(j->cx, v, key, out++));
    return AXE_OK;
}

axe_status
axe_fact_major(axe_job *j, const char *key, bool *out)
{
    const char *s;

    AXE_TRY(axe_fact_text(j, key, &s));
    *out = strcmp(s, "MN") == 0;
    if (*out || strcmp(s, "K") == 0)
        return AXE_OK;
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG, "%s is K or MN, not \"%s\"",
                    key, s);
}

axe_status
axe_fact_machine(axe_job *j, const axe_machine **out)
{
    const char *s;
    size_t      n;

    AXE_TRY(axe_fact_text(j, "arch", &s));
    n = strlen(s);
    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_machine *mc = axe_machine_at(i);
        if (!axe_language_of(mc)->here && n > 0 &&
            strncmp(mc->name, s, n) == 0 &&
            (mc->name[n] == '\0' || strcmp(mc->name + n, "a") == 0)) {
            *out = mc;
            return AXE_OK;
        }
    }
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "there is no machine %s with tensor cores", s);
}

axe_status
axe_fact_type(axe_job *j, const char *key, axe_type *out)
{
    static const struct {
        const char *name;
        axe_type    type;
    } other[] = {
        {"e4m3", AXE_TYPE_f8e4m3},  {"e5m2", AXE_TYPE_f8e5m2},
        {"e2m1", AXE_TYPE_f4e2m1},  {"s8", AXE_TYPE_i8},
        {"s32", AXE_TYPE_i32},      {"ue8m0", AXE_TYPE_f8e8m0},
        {"ue4m3", AXE_TYPE_f8e4m3},
    };
    const char *s;

    AXE_TRY(axe_fact_text(j, key, &s));
    for (int i = 0; i < AXE_LEN(other); i++)
        if (strcmp(other[i].name, s) == 0) {
            *out = other[i].type;
            return AXE_OK;
        }
    for (int i = 0; i < AXE_N_TYPE; i++)
        if (strcmp(axe_type_table[i].name, s) == 0) {
            *out = (axe_type)i;
            return AXE_OK;
        }
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s: there are no elements of type %s", key, s);
}

/* ---------------------------------------------------------------- shared tiles
 */

static axe_status
read_matrix(axe_job *j, axe_ask_matrix *q)
{
    int64_t     bits = 0, span = 0, atom = PIECE;
    const char *order;

    AXE_TRY(axe_fact_machine(j, &q->mc));
    AXE_TRY(axe_fact_type(j, "dtype", &q->type));
    AXE_TRY(axe_fact_major(j, "major", &q->major));
    AXE_TRY(axe_fact_ints(j, "bits", 1, &bits));
    AXE_TRY(axe_fact_ints(j, "swizzle", 1, &span));
    AXE_TRY(axe_fact_ints(j, "swizzle_atom", 1, &atom));
    AXE_TRY(axe_fact_ints(j, "tile", 2, q->tile));
    AXE_TRY(axe_fact_ints(j, "mma", 2, q->mma));
    AXE_TRY(axe_fact_ints(j, "step", 2, q->step));
    AXE_TRY(axe_fact_text(j, "order", &order));
    q->rows_first = strcmp(order, "rows") == 0;
    q->span = span == 0 ? PIECE : (int)span;
    for (int d = 0; d < 2; d++)
        if (q->mma[d] < 1 || q->tile[d] < q->mma[d] || q->tile[d] > MAX_TILE ||
            q->step[d] < 0 || q->step[d] >= q->tile[d] / q->mma[d])
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "no step %" PRId64 " of %" PRId64 " is in %" PRId64,
                            q->step[d], q->mma[d], q->tile[d]);
    if (!q->rows_first && strcmp(order, "k") != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "order is rows or k, not \"%s\"", order);
    if (bits != axe_type_table[q->type].bits)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s takes %d bits in shared memory, not %" PRId64,
                        axe_type_table[q->type].name,
                        axe_type_table[q->type].bits, bits);
    if (atom != PIECE || (span != 0 && span != 32 && span != 64 && span != 128))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "swizzles keep %d bytes together, in 32, 64 or 128",
                        PIECE);
    return AXE_OK;
}

axe_status
axe_fact_matrix(axe_job *j)
{
    axe_ask_matrix  q = {.step = {0, 0}};
    axe_told_matrix told;
    int64_t         stage[2] = {0, 1};

    AXE_TRY(read_matrix(j, &q));
    AXE_TRY(axe_fact_ints(j, "stage", 2, stage));
    if (stage[0] < 0 || stage[0] >= stage[1] || stage[1] > MAX_STAGE)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "there is no stage %" PRId64 " of %" PRId64, stage[0],
                        stage[1]);
    AXE_TRY(axe_ask_matrix_of(j->cx, &q, &told));
    told.offset +=
        stage[0] * (q.tile[0] * q.tile[1] * axe_type_table[q.type].bits / 8);
    axe_putf(j->out,
             "{\"offset\":%" PRId64 ",\"desc\":\"0x%016" PRIx64
             "\",\"dont_care\":\"0x%016" PRIx64 "\"}",
             told.offset, told.bits | axe_desc_start(told.offset), told.unseen);
    return AXE_OK;
}

/* ----------------------------------------------------------------- products
 */

/* Is "::WORD" in the row's text, before a space or another word? */
static bool
says(const axe_atom *a, const char *before, const char *word)
{
    char        want[MAX_NAME];
    const char *s = a->asm_text;
    size_t      n = strlen(before) + strlen(word);

    if (n >= sizeof want)
        return false;
    strcpy(want, before);
    strcat(want, word);
    while ((s = strstr(s, want)))
        if (strchr(" .", *(s += n)))
            return true;
    return false;
}

static int64_t
extent_of(axe_ctx *cx, const axe_atom *a, int which, int param, int d)
{
    const axe_layout *l;
    const char       *roles;
    int64_t           n = 1;

    if (axe_atom_operand(cx, a, which, param, &roles, &l) != AXE_OK ||
        l->n_dim != 2)
        return 0;
    for (int i = d > 0 ? l->dim_end[d - 1] : 0; i < l->dim_end[d]; i++)
        n *= l->shard[i].extent;
    return n;
}

static bool
fits(axe_ctx *cx, const axe_machine *mc, const axe_fact_product *q,
     const axe_atom *a)
{
    char group[2] = {q->group == 2 ? '2' : '1', '\0'};

    if (a->kind != AXE_ATOM_CONTRACT || a->space[0] != AXE_ARG_TMEM ||
        a->space[1] != AXE_ARG_SHARED || !axe_machine_has(mc, a) ||
        q->n > a->hi || !axe_atom_takes(a, (int)q->n) ||
        !says(a, ".kind::", q->kind) || !says(a, "cta_group::", group) ||
        (q->vec > 0) != (a->scale[0] != NULL) ||
        (q->vec > 0 && axe_atom_block(cx, a) != q->vec) ||
        (q->scale != AXE_TYPE_any && a->scale_type != q->scale))
        return false;
    for (int i = 0; i < 3; i++)
        if (q->type[i] != AXE_TYPE_any && q->type[i] != a->type[i])
            return false;
    return extent_of(cx, a, 1, (int)q->n, 0) == q->m &&
           (q->k == 0 || extent_of(cx, a, 1, (int)q->n, 1) == q->k);
}

axe_status
axe_fact_find(axe_job *j, const axe_machine *mc, const axe_fact_product *q,
              const axe_atom **out)
{
    for (int i = 0; q->n > 0 && i < mc->n_atom; i++) {
        axe_mark m = axe_ctx_mark(j->cx);
        if (fits(j->cx, mc, q, &mc->atom[i])) {
            *out = &mc->atom[i];
            return AXE_OK;
        }
        axe_ctx_release(j->cx, m);
    }
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "no row of %s is kind::%s of %" PRId64 " x %" PRId64
                    " by %" PRId64 " CTAs with these types%s",
                    mc->name, q->kind, q->m, q->n, q->group,
                    q->vec > 0 ? " and scales" : "");
}

static axe_status
read_product(axe_job *j, axe_fact_product *q, bool major[2])
{
    static const char *const key[3] = {"d", "a", "b"};
    const char              *scale;

    AXE_TRY(axe_fact_text(j, "kind", &q->kind));
    AXE_TRY(axe_fact_text(j, "scale", &scale));
    for (int i = 0; i < 3; i++)
        AXE_TRY(axe_fact_type(j, key[i], &q->type[i]));
    if (*scale)
        AXE_TRY(axe_fact_type(j, "scale", &q->scale));
    AXE_TRY(axe_fact_ints(j, "M", 1, &q->m));
    AXE_TRY(axe_fact_ints(j, "N", 1, &q->n));
    AXE_TRY(axe_fact_ints(j, "vec", 1, &q->vec));
    AXE_TRY(axe_fact_ints(j, "cta_group", 1, &q->group));
    AXE_TRY(axe_fact_major(j, "a_major", &major[0]));
    return axe_fact_major(j, "b_major", &major[1]);
}

axe_status
axe_fact_instruction(axe_job *j)
{
    axe_fact_product   q = {.scale = AXE_TYPE_any};
    const axe_machine *mc;
    const axe_atom    *a;
    bool               major[2];
    int64_t            negate[2] = {0, 0}, saturate = 0, byte[2] = {0, 0};
    uint32_t           bits;

    AXE_TRY(axe_fact_machine(j, &mc));
    AXE_TRY(read_product(j, &q, major));
    AXE_TRY(axe_fact_ints(j, "negate", 2, negate));
    AXE_TRY(axe_fact_ints(j, "saturate", 1, &saturate));
    AXE_TRY(axe_fact_ints(j, "scale_id", 2, byte));
    AXE_TRY(axe_fact_find(j, mc, &q, &a));
    if (negate[0] || negate[1] || saturate ||
        ((major[0] || major[1]) && !a->major))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "%s has no %s",
                        a->name,
                        saturate                 ? "sums that saturate"
                        : negate[0] || negate[1] ? "factors that are negated"
                                                 : "factors with k slow");
    for (int i = 0; i < 2; i++)
        if (byte[i] < 0 || byte[i] > 3)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                            "a word has bytes 0 to 3, not %" PRId64, byte[i]);
    AXE_TRY(axe_ask_instruction(j->cx, a, (int)q.n, major, byte, &bits));
    axe_putf(j->out, "{\"idesc\":\"0x%08" PRIx32 "\"}", bits);
    return AXE_OK;
}
