/* rows.c - the tables of rows.def and targets.def. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "axe/compile.h"
#include "run/array/file.h"

const row rows[] = {
#define PRODUCT(id, n, k, t)                                                   \
    {.group = "bf16 GEMM, M = 8192",                                           \
     .name = id,                                                               \
     .file = "gemm_sm90",                                                      \
     .otherwise = "gemm",                                                      \
     .set = "T=bf16",                                                          \
     .sizes = "M=8192 N=" #n " K=" #k,                                         \
     .peer = "matmul",                                                         \
     .vendor = LIBRARY_BF16,                                                   \
     .target = t,                                                              \
     .means = MEANS_PRODUCT},
#define GEMM(id, n, k) PRODUCT(id, n, k, TARGET_GEMM)
#define SQUARE(id, n, k) PRODUCT(id, n, k, NO_TARGET)
#define FP8(id, m, n, k)                                                       \
    {.group = "e4m3 GEMM with blocks of 128",                                  \
     .name = id,                                                               \
     .file = "gemm_fp8_sm90",                                                  \
     .otherwise = "",                                                          \
     .set = "",                                                                \
     .sizes = "M=" #m " N=" #n " K=" #k,                                       \
     .peer = "scaled_mm",                                                      \
     .vendor = LIBRARY_FP8_BLOCKS,                                             \
     .target = TARGET_FP8,                                                     \
     .means = MEANS_BLOCKS},
#define FEW(id, m, n, q, words)                                                \
    {.group = "e4m3 GEMM with blocks of 128",                                  \
     .name = id,                                                               \
     .file = "gemm_fp8_small_sm90",                                            \
     .otherwise = "",                                                          \
     .set = words,                                                             \
     .sizes = "M=" #m " N=" #n " Q=" #q,                                       \
     .peer = "scaled_mm",                                                      \
     .vendor = LIBRARY_FP8_BLOCKS,                                             \
     .target = TARGET_FEW,                                                     \
     .means = MEANS_BLOCKS},
#define HEADS(id, causal, g, r, s)                                             \
    {.group = "attention, D = 128",                                            \
     .name = id,                                                               \
     .file = "attention_sm90",                                                 \
     .otherwise = "",                                                          \
     .set = "T=bf16 CAUSAL=" #causal,                                          \
     .sizes = "G=" #g " R=" #r " S=" #s " L=" #s,                              \
     .peer = (causal) ? "sdpa_causal" : "sdpa",                                \
     .target = TARGET_HEADS,                                                   \
     .means = (causal) ? MEANS_HEADS_CAUSAL : MEANS_HEADS},
#define EXPERTS(id, m, words) LAYER(id, m, words, false)
#define APART(id, m, words) LAYER(id, m, words, true)
#define LAYER(id, m, words, apart_)                                            \
    {.group = "8 of 128 experts, H = 2048, I = 768",                           \
     .name = id,                                                               \
     .file = "moe_sm90",                                                       \
     .otherwise = "",                                                          \
     .set = "T=bf16 " words,                                                   \
     .apart = apart_,                                                          \
     .sizes = "M=" #m " H=2048 I=768 E=128 S=8",                               \
     .peer = "experts",                                                        \
     .means = MEANS_EXPERTS},
#define MOVE(id, entry, sizes_, torch, m)                                      \
    {.group = "memory-bound",                                                  \
     .name = id,                                                               \
     .file = id,                                                               \
     .kernel = entry,                                                          \
     .set = "T=bf16",                                                          \
     .sizes = sizes_,                                                          \
     .peer = torch,                                                            \
     .target = TARGET_MOVE,                                                    \
     .means = MEANS_##m},
#include "rows.def"
};
const int n_rows = AXE_LEN(rows);

const target targets[N_TARGET] = {
#define TARGET(id, what, least, of, name, how)                                 \
    [TARGET_##id] = {what, least, OF_##of, name, BY_##how},
#include "targets.def"
};

/* Splits "A=1 B=2"; returns how many pairs. */
static int
split(axe_ctx *cx, const char *text, const char **name, const char **value)
{
    char *s = axe_textf(cx, "%s", text);
    int   n = 0;

    for (s = strtok(s, " ="); s && n < MAX_SIZE; s = strtok(NULL, " =")) {
        name[n] = s;
        value[n++] = strtok(NULL, " =");
    }
    return n;
}

/* The text with scopes that overlap, one behind the other: a launch for each.
 */
static const char *
put_apart(axe_ctx *cx, const char *text, size_t n)
{
    static const char group[] = "overlap {", block[] = "if (M >= 0) {";
    char             *s = axe_textf(cx, "%.*s", (int)n, text);
    char             *at = strstr(s, group);

    if (!at)
        return s;
    *at = '\0';
    return axe_textf(cx, "%s%s%s", s, block, at + strlen(group));
}

static axe_status
compile(axe_ctx *cx, const row *r, const char *file, const char *machine,
        const axe_program **out)
{
    const char *path = axe_textf(cx, AXE_SOURCE_DIR "/kernels/%s.axe", file);
    const char *name[MAX_SIZE], *value[MAX_SIZE];
    int         n = split(cx, r->set, name, value);
    axe_bytes   text;
    int32_t     source;

    AXE_TRY(axe_file_read(cx, path, &text));
    const char *lines = (const char *)text.data;
    size_t      len = text.len;
    if (r->apart) {
        lines = put_apart(cx, lines, len);
        len = strlen(lines);
    }
    source = axe_source_add(cx, path, lines, len);
    free(text.data);
    return axe_compile(cx, source,
                       &(axe_compile_spec){.kernel = r->kernel,
                                           .machine = machine,
                                           .n_set = n,
                                           .set_name = name,
                                           .set_value = value},
                       AXE_STAGE_C, out);
}

axe_status
row_compile(axe_ctx *cx, const row *r, const char *machine,
            const axe_program **out)
{
    axe_mark   m = axe_ctx_mark(cx);
    axe_status st = compile(cx, r, r->file, machine, out);

    if (st == AXE_OK || !r->otherwise || !*r->otherwise)
        return st;
    axe_ctx_release(cx, m);
    return compile(cx, r, r->otherwise, machine, out);
}

static int64_t
find(int n, const axe_size *s, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(s[i].name, name) == 0)
            return s[i].value;
    return 0;
}

int64_t
row_param(const row *r, const char *name)
{
    size_t      len = strlen(name);
    const char *at = r->set;

    for (; (at = strstr(at, name)); at += len)
        if (at[len] == '=' && (at == r->set || at[-1] == ' '))
            return strtoll(at + len + 1, NULL, 10);
    return 0;
}

int
row_sizes(axe_ctx *cx, const row *r, int64_t shrink, axe_size *out)
{
    const char *name[MAX_SIZE], *value[MAX_SIZE];
    int         n = split(cx, r->sizes, name, value);

    for (int i = 0; i < n; i++) {
        int64_t v = strtoll(value[i], NULL, 10);
        if (v > 64 && shrink > 1)
            v = v / shrink < 64 ? 64 : v / shrink / 16 * 16;
        out[i] = (axe_size){name[i], v};
    }
    if (strcmp(r->peer, "experts") == 0) { /* tiles that suffice for any */
        int64_t picked = find(n, out, "M") * find(n, out, "S");
        int64_t experts = find(n, out, "E"), bm = row_param(r, "BM");
        bm = bm > 0 ? bm : 1;
        int64_t tiles =
            (picked + (picked < experts ? picked : experts) * (bm - 1)) / bm;
        out[n] = (axe_size){"P", tiles * bm};
        out[n + 1] = (axe_size){"Q", tiles};
        n += 2;
    }
    if (strcmp(r->peer, "scaled_mm") == 0) { /* blocks of N, of K */
        out[n] = (axe_size){"P", (find(n, out, "N") + 127) / 128};
        n++;
        if (find(n, out, "Q") == 0) {
            out[n] = (axe_size){"Q", (find(n, out, "K") + 127) / 128};
            n++;
        }
    }
    return n;
}
