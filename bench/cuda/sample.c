/* sample.c - elements of a row's result computed again on the host, in double
 * precision, from the arrays that the GPU had and from what the row means:
 * nothing here knows of layouts or plans.  The first and the last are among
 * them, where edges are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "ir/number.h"

enum { N_SAMPLE = 24, MOST = 1 << 17 };

/* A run of elements of the result. */
typedef struct look {
    bench           *b;
    const test_case *c;
    int              number; /* of this sample */
    uint64_t         seed;
    bool             failed;
    int64_t          at, n; /* elements [at, at + n) of the result */
    double          *want;  /* [MOST] */
} look;

/* One of n: the last, the first, any. */
static int64_t
pick(look *l, int64_t n)
{
    int64_t x = bench_random(&l->seed, 1 << 30);

    return l->number == 0 ? n - 1 : l->number == 1 ? 0 : x % n;
}

/* n elements of an array; the caller frees them.  NULL: l->failed. */
static double *
get(look *l, const axe_array *a, int64_t at, int64_t n)
{
    axe_type t = AXE_TYPE_f32;
    char    *raw;
    double  *x = malloc((size_t)n * sizeof *x);

    (void)axe_type_find(a->type, &t);
    size_t step = (size_t)axe_type_table[t].bits / 8;
    raw = malloc((size_t)n * step);
    l->failed |= !x || !raw ||
                 axe_gpu_get(l->b->cx, l->b->gpu, raw,
                             (char *)a->data + (size_t)at * step,
                             (size_t)n * step) != AXE_OK;
    for (int64_t i = 0; i < n && !l->failed; i++)
        x[i] = axe_number_get(t, raw + (size_t)i * step);
    free(raw);
    if (!l->failed)
        return x;
    free(x);
    return NULL;
}

static double *
get_of(look *l, const char *name, int64_t at, int64_t n)
{
    return get(l, case_array(l->c, name), at, n);
}

/* ---------------------------------------------------------------- products */

/* C[m, n] = sum over k of A[m, k] B[n, k] */
static void
product(look *l)
{
    int64_t M = case_size(l->c, "M"), N = case_size(l->c, "N"),
            K = case_size(l->c, "K"), m = pick(l, M), n = pick(l, N);
    double *a = get_of(l, "A", m * K, K), *b = get_of(l, "B", n * K, K);

    l->at = m * N + n;
    l->n = 1;
    l->want[0] = 0;
    for (int64_t k = 0; k < K && a && b; k++)
        l->want[0] += a[k] * b[k];
    free(a);
    free(b);
}

/* The same with SA[k/128, m] for A and SB[n/128, k/128] for B. */
static void
blocks(look *l)
{
    int64_t M = case_size(l->c, "M"), N = case_size(l->c, "N"),
            Q = case_size(l->c, "Q"), K = case_size(l->c, "K");
    K = K ? K : Q * 128;
    int64_t m = pick(l, M), n = pick(l, N);
    double *a = get_of(l, "A", m * K, K), *b = get_of(l, "B", n * K, K),
           *sb = get_of(l, "SB", n / 128 * Q, Q), sum = 0;

    for (int64_t q = 0; q < Q && a && b && sb; q++) {
        double *sa = get_of(l, "SA", q * M + m, 1), part = 0;
        for (int64_t k = q * 128; k < K && k < q * 128 + 128; k++)
            part += a[k] * b[k];
        sum += sa ? part * sa[0] * sb[q] : 0;
        free(sa);
    }
    l->at = m * N + n;
    l->n = 1;
    l->want[0] = sum;
    free(a);
    free(b);
    free(sb);
}

/* --------------------------------------------------------------- attention */

/* Weights of L keys, of which the first `seen` count, in place of p. */
static void
weights(double *p, int64_t L, int64_t seen)
{
    double top = -INFINITY, total = 0;

    for (int64_t k = 0; k < seen; k++)
        top = fmax(top, p[k]);
    for (int64_t k = 0; k < L; k++) {
        p[k] = k < seen ? exp(p[k] - top) : 0;
        total += p[k];
    }
    for (int64_t k = 0; k < L; k++)
        p[k] = total > 0 ? p[k] / total : 0;
}

/* A row of O[G, R, S, D] = softmax(Q K^T / sqrt(D)) V; `causal`: row s sees the
 * keys up to s + L - S. */
static void
head(look *l, bool causal)
{
    int64_t G = case_size(l->c, "G"), R = case_size(l->c, "R"),
            S = case_size(l->c, "S"), L = case_size(l->c, "L");
    int64_t D = case_array(l->c, "K")->shape[2];
    int64_t g = pick(l, G), r = pick(l, R), s = pick(l, S);
    int64_t seen = causal && s + L - S + 1 < L ? s + L - S + 1 : L;
    int64_t at = ((g * R + r) * S + s) * D;
    double *q = get_of(l, "Q", at, D), *k = get_of(l, "K", g * L * D, L * D),
           *v = get_of(l, "V", g * L * D, L * D),
           *p = calloc((size_t)L + 1, sizeof *p);

    l->failed |= !p;
    for (int64_t i = 0; i < L && !l->failed; i++)
        for (int64_t d = 0; d < D; d++)
            p[i] += q[d] * k[i * D + d] / sqrt((double)D);
    if (!l->failed)
        weights(p, L, seen);
    memset(l->want, 0, (size_t)D * sizeof *l->want);
    for (int64_t i = 0; i < L && !l->failed; i++)
        for (int64_t d = 0; d < D; d++)
            l->want[d] += p[i] * v[i * D + d];
    l->at = at;
    l->n = D;
    free(q);
    free(k);
    free(v);
    free(p);
}

static void
heads(look *l)
{
    head(l, false);
}

static void
heads_causal(look *l)
{
    head(l, true);
}

/* -------------------------------------------------------------------- rows */

/* A row of X in l->want, which is that of the result. */
static void
row_of_x(look *l)
{
    int64_t M = case_size(l->c, "M"), N = case_size(l->c, "N"), m = pick(l, M);
    double *x = get_of(l, "X", m * N, N);

    l->at = m * N;
    l->n = N;
    if (x)
        memcpy(l->want, x, (size_t)N * sizeof *x);
    free(x);
}

static double
mean_of(const look *l, double less, int power)
{
    double sum = 0;

    for (int64_t i = 0; i < l->n; i++)
        sum += pow(l->want[i] - less, power);
    return sum / (double)l->n;
}

static void
add(look *l)
{
    row_of_x(l);
    double *y = get_of(l, "Y", l->at, l->n);
    for (int64_t i = 0; i < l->n && y; i++)
        l->want[i] += y[i];
    free(y);
}

static void
softmax(look *l)
{
    row_of_x(l);
    weights(l->want, l->n, l->n);
}

static void
rmsnorm(look *l)
{
    row_of_x(l);
    double  scale = 1 / sqrt(mean_of(l, 0, 2) + 1e-5);
    double *w = get_of(l, "W", 0, l->n);
    for (int64_t i = 0; i < l->n && w; i++)
        l->want[i] *= scale * w[i];
    free(w);
}

static void
layernorm(look *l)
{
    row_of_x(l);
    double mean = mean_of(l, 0, 1),
           scale = 1 / sqrt(mean_of(l, mean, 2) + 1e-5);
    double *w = get_of(l, "W", 0, l->n), *b = get_of(l, "B", 0, l->n);
    for (int64_t i = 0; i < l->n && w && b; i++)
        l->want[i] = (l->want[i] - mean) * scale * w[i] + b[i];
    free(w);
    free(b);
}

static void
row_sum(look *l)
{
    row_of_x(l);
    l->want[0] = mean_of(l, 0, 1) * (double)l->n;
    l->at /= l->n;
    l->n = 1;
}

/* A row of Y is a column of X, of which some elements are looked at. */
static void
transpose(look *l)
{
    int64_t M = case_size(l->c, "M"), N = case_size(l->c, "N"), n = pick(l, N);
    int64_t m = pick(l, M > 64 ? M - 64 : 1);

    l->at = n * M + m;
    l->n = M < 64 ? M : 64;
    for (int64_t i = 0; i < l->n; i++) {
        double *x = get_of(l, "X", (m + i) * N + n, 1);
        l->want[i] = x ? x[0] : 0;
        free(x);
    }
}

/* ----------------------------------------------------------------- experts */

/* What expert e makes of x[H], its element h. */
static double
expert(look *l, int64_t e, const double *x, int64_t h)
{
    int64_t H = case_size(l->c, "H"), I = case_size(l->c, "I");
    double *v = get_of(l, "V", e * 2 * I * H, 2 * I * H), sum = 0;
    double *w = get_of(l, "W", (e * H + h) * I, I);

    for (int64_t i = 0; i < I && v && w; i++) {
        double gate = 0, up = 0;
        for (int64_t k = 0; k < H; k++) {
            gate += v[i * H + k] * x[k];
            up += v[(I + i) * H + k] * x[k];
        }
        sum += w[i] * gate / (1 + exp(-gate)) * up;
    }
    free(v);
    free(w);
    return sum;
}

/* Y[m, h] = sum over s of w[m, s] times that of the expert of row at[m, s] */
static void
experts(look *l)
{
    int64_t M = case_size(l->c, "M"), H = case_size(l->c, "H"),
            S = case_size(l->c, "S"), m = pick(l, M), h = pick(l, H);
    int64_t bm = case_size(l->c, "P") / case_size(l->c, "Q");
    double *x = get_of(l, "X", m * H, H), *at = get_of(l, "at", m * S, S);
    double *w = get_of(l, "w", m * S, S);

    l->at = m * H + h;
    l->n = 1;
    l->want[0] = 0;
    for (int64_t s = 0; s < S && x && at && w; s++) {
        double *e = get_of(l, "expert", (int64_t)at[s] / bm, 1);
        if (e)
            l->want[0] += w[s] * expert(l, (int64_t)e[0], x, h);
        free(e);
    }
    free(x);
    free(at);
    free(w);
}

/* --------------------------------------------------------------------- all */

static void (*const sampler[N_MEANING])(look *) = {
#define MEANING(id, name) [MEANS_##id] = name,
#include "meanings.def"
};

/* Adds up squares of differences and of what was wanted. */
static void
add_run(look *l, const axe_array *out, double sum[2])
{
    double *x = l->failed ? NULL : get(l, out, l->at, l->n);

    for (int64_t i = 0; i < l->n && x; i++) {
        double d = x[i] - l->want[i];
        sum[0] += isnan(d) ? INFINITY : d * d;
        sum[1] += l->want[i] * l->want[i];
    }
    free(x);
}

void
case_sample(bench *b, const test_case *c, verdict *v)
{
    look   l = {.b = b, .c = c, .seed = b->seed};
    double sum[2] = {0, 1e-30};
    int    out = c->n_array - 1, n = 0;

    v->sample = -1;
    if (!sampler[c->row->means])
        return;
    while (out > 0 && !(axe_program_param(c->program, out).access & AXE_WRITES))
        out--;
    l.want = malloc(MOST * sizeof *l.want);
    l.failed = !l.want;
    for (; n < N_SAMPLE && !l.failed; n++) {
        l.number = n;
        sampler[c->row->means](&l);
        add_run(&l, &c->array[c->set][out], sum);
    }
    free(l.want);
    if (l.failed)
        return;
    v->n_sample = n;
    v->sample = sqrt(sum[0] / sum[1]);
}
