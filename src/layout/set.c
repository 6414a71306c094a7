/* set.c - sums of progressions as sets of integers.
 *
 * The replicas of one axis and unit make the set { sum r_k s_k }.  Under the
 * gap condition its normal form is unique; beyond it, (3 : 2) + (2 : 3) + (2 :
 * 6) has two, and sets are compared as sorted runs of neighbours.  Adding an
 * iter of extent e takes O(log e) unions, by doubling. */
#include <inttypes.h>

#include "layout/set.h"

static void
reserve(axe_ctx *cx, axe_runs *s, int n)
{
    if (n <= s->cap)
        return;
    s->cap = n < 64 ? 64 : n > INT32_MAX / 2 ? n : 2 * n;
    s->run = axe_new_array(cx, axe_run, s->cap);
}

static void
append(axe_runs *s, axe_run r)
{
    if (s->n > 0 && r.lo <= s->run[s->n - 1].hi + 1) {
        if (r.hi > s->run[s->n - 1].hi)
            s->run[s->n - 1].hi = r.hi;
    } else {
        s->run[s->n++] = r;
    }
}

/* out = a | (b + by); out is neither. */
static void
unite(axe_ctx *cx, const axe_runs *a, const axe_runs *b, int64_t by,
      axe_runs *out)
{
    int i = 0, k = 0;

    reserve(cx, out, a->n + b->n);
    out->n = 0;
    while (i < a->n || k < b->n) {
        axe_run moved = {0, 0};
        if (k < b->n)
            moved = (axe_run){b->run[k].lo + by, b->run[k].hi + by};
        if (k == b->n || (i < a->n && a->run[i].lo <= moved.lo)) {
            append(out, a->run[i++]);
        } else {
            append(out, moved);
            k++;
        }
    }
}

static void
swap(axe_runs *a, axe_runs *b)
{
    axe_runs t = *a;

    *a = *b;
    *b = t;
}

bool
axe_runs_add(axe_ctx *cx, const axe_runs *a, int64_t extent, int64_t stride,
             axe_runs *out)
{
    const axe_runs none = {0};
    axe_runs       set = {0}, spare = {0};
    int64_t        have = 1;
    int            bit = 62;

    unite(cx, a, &none, 0, &set);
    while (!(extent >> bit & 1))
        bit--;
    while (bit-- > 0) {
        unite(cx, &set, &set, have * stride, &spare);
        swap(&set, &spare);
        have *= 2;
        if (extent >> bit & 1) {
            unite(cx, &set, a, have * stride, &spare);
            swap(&set, &spare);
            have++;
        }
        if (set.n > AXE_SET_MAX)
            return false;
    }
    *out = set;
    return true;
}

bool
axe_runs_of_sums(axe_ctx *cx, int n, const axe_iter *r, int64_t g,
                 axe_runs *out)
{
    axe_runs set = {0};

    reserve(cx, &set, 1);
    append(&set, (axe_run){0, 0});
    for (int k = 0; k < n; k++)
        if (!axe_runs_add(cx, &set, r[k].extent, r[k].stride / g, &set))
            return false;
    *out = set;
    return true;
}

void
axe_runs_of_points(axe_ctx *cx, int64_t n, const int64_t *point, axe_runs *out)
{
    axe_runs set = {0};

    reserve(cx, &set, (int)n);
    for (int64_t k = 0; k < n; k++)
        append(&set, (axe_run){point[k], point[k]});
    *out = set;
}

bool
axe_runs_same(const axe_runs *a, const axe_runs *b)
{
    bool same = a->n == b->n;

    for (int k = 0; same && k < a->n; k++)
        same = a->run[k].lo == b->run[k].lo && a->run[k].hi == b->run[k].hi;
    return same;
}

bool
axe_runs_within(const axe_runs *a, const axe_runs *b)
{
    int k = 0;

    for (int i = 0; i < a->n; i++) {
        while (k < b->n && b->run[k].hi < a->run[i].lo)
            k++;
        if (k == b->n || a->run[i].lo < b->run[k].lo ||
            a->run[i].hi > b->run[k].hi)
            return false;
    }
    return true;
}

static int64_t
gcd_of(int n, const axe_iter *r)
{
    int64_t g = 0;

    for (int k = 0; k < n; k++)
        g = axe_gcd(g, r[k].stride);
    return g;
}

int64_t
axe_sums_width(int n, const axe_iter *r)
{
    int64_t w = 0;

    for (int k = 0; k < n; k++)
        w += (r[k].extent - 1) * r[k].stride;
    return w;
}

/* Does every stride lie beyond the run of the one before? */
static bool
has_gaps(int n, const axe_iter *r)
{
    int64_t end;

    for (int k = 0; k + 1 < n; k++)
        if (!axe_mul(r[k].extent, r[k].stride, &end) || r[k + 1].stride <= end)
            return false;
    return true;
}

axe_status
axe_sums_equal(axe_ctx *cx, int na, const axe_iter *a, int nb,
               const axe_iter *b, bool *out)
{
    int64_t  g = gcd_of(na, a);
    axe_mark m;
    axe_runs sa, sb;
    bool     same;

    *out = na == nb && axe_iters_same(na, a, b);
    if (*out)
        return AXE_OK;
    if (na == 0 || nb == 0 || a[0].stride != b[0].stride ||
        g != gcd_of(nb, b) || axe_sums_width(na, a) != axe_sums_width(nb, b) ||
        (has_gaps(na, a) && has_gaps(nb, b)))
        return AXE_OK;

    m = axe_ctx_mark(cx);
    if (!axe_runs_of_sums(cx, na, a, g, &sa) ||
        !axe_runs_of_sums(cx, nb, b, g, &sb)) {
        axe_ctx_release(cx, m);
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "replicas: two sets of over %d runs on axis %s are not "
                        "told apart by their normal forms",
                        AXE_SET_MAX, axe_axis_name(cx, a[0].axis));
    }
    same = axe_runs_same(&sa, &sb);
    axe_ctx_release(cx, m);
    *out = same;
    return AXE_OK;
}

/* Points of the runs, if there are at most `max`; else 0. */
static int64_t
count(const axe_runs *s, int64_t max)
{
    int64_t n = 0;

    for (int k = 0; k < s->n && n <= max; k++)
        n += s->run[k].hi - s->run[k].lo + 1;
    return n <= max ? n : 0;
}

/* Those of one iter at most. */
static int64_t *
points_of_one(axe_ctx *cx, int64_t extent, int64_t stride, int64_t max)
{
    int64_t *p;

    if (extent > max)
        return NULL;
    p = axe_new_array(cx, int64_t, extent);
    for (int64_t k = 0; k < extent; k++)
        p[k] = k * stride;
    return p;
}

int64_t *
axe_sums_points(axe_ctx *cx, int n, const axe_iter *r, int64_t max,
                int64_t *n_point)
{
    int64_t  g = gcd_of(n, r), *p;
    int64_t  at = 0;
    axe_runs s;

    if (n <= 1) {
        *n_point = n > 0 ? r->extent : 1;
        return points_of_one(cx, *n_point, n > 0 ? r->stride : 0, max);
    }
    if (!axe_runs_of_sums(cx, n, r, g, &s) || count(&s, max) == 0)
        return NULL;
    *n_point = count(&s, max);
    p = axe_new_array(cx, int64_t, *n_point);
    for (int k = 0; k < s.n; k++)
        for (int64_t v = s.run[k].lo; v <= s.run[k].hi; v++)
            p[at++] = v * g;
    return p;
}

/* Does every stride pass all that the smaller ones reach?  Then digits are
 * unique, and members are as many as digits. */
static bool
has_unique_digits(int n, const axe_iter *r)
{
    int64_t reach = 0;

    for (int k = 0; k < n; k++) {
        if (r[k].stride <= reach)
            return false;
        reach += (r[k].extent - 1) * r[k].stride;
    }
    return true;
}

bool
axe_sums_count(axe_ctx *cx, int n, const axe_iter *r, int64_t *out)
{
    int64_t  g = gcd_of(n, r);
    axe_mark m;
    axe_runs s;
    bool     built;

    if (has_unique_digits(n, r)) {
        for (*out = 1; n > 0; n--)
            *out *= r[n - 1].extent;
        return true;
    }
    m = axe_ctx_mark(cx);
    built = axe_runs_of_sums(cx, n, r, g, &s);

    if (built)
        *out = count(&s, INT64_MAX - 1);
    axe_ctx_release(cx, m);
    return built;
}
