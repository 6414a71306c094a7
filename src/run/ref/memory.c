/* memory.c - does what the reference takes fit the host's memory?
 *
 * It keeps 8 bytes for each element and as many for its bound: of the
 * arguments (bounds of those that are written), of the kernel's own tensors,
 * and of the tiles of one scope at a time. */
#define _DEFAULT_SOURCE

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "run/array/values.h"
#include "run/ref/ref_int.h"

enum { EACH = 8 };

/* a * b + c, INT64_MAX where it is more than that; all at least 0. */
static int64_t
upto(int64_t a, int64_t b, int64_t c)
{
    int64_t n;

    return axe_mul(a, b, &n) && axe_add(n, c, &n) ? n : INT64_MAX;
}

static int64_t
bytes_of(const axe_values *in, const axe_tensor *t, int64_t stages)
{
    int64_t n = stages, e;

    for (int d = 0; d < t->rank; d++) {
        if (!axe_value_of(in, t->shape[d], &e))
            return INT64_MAX;
        n = upto(n, e > 0 ? e : 0, 0);
    }
    return upto(n, 2 * EACH, 0);
}

/* Of what a body declares, and its largest statement. */
static int64_t
bytes_in(const axe_values *in, int n, axe_stmt *const *body)
{
    int64_t own = 0, most = 0;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        int64_t         b = bytes_in(in, s->n_body, s->body);
        int64_t         o = bytes_in(in, s->n_other, s->other);
        if (s->kind == AXE_STMT_TENSOR)
            own = upto(1, own, bytes_of(in, s->tensor, 1));
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            own = upto(
                1, own,
                bytes_of(in, s->pipeline->tensor[k], s->pipeline->n_stage));
        b = b > o ? b : o;
        most = b > most ? b : most;
    }
    return upto(1, own, most);
}

/* What the host has left; INT64_MAX: it does not say. */
static int64_t
available(void)
{
    char    line[128];
    int64_t kib = 0, n;
    FILE   *f = fopen("/proc/meminfo", "r");

    while (f && kib == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %" SCNd64, &kib) != 1)
            kib = 0;
    if (f)
        fclose(f);
    if (kib > 0 && axe_mul(kib, 1024, &n))
        return n;
    return axe_mul(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE), &n) && n > 0
               ? n
               : INT64_MAX;
}

axe_status
axe_ref_check_memory(axe_ctx *cx, const axe_kernel *k, const int64_t *size,
                     int64_t cores)
{
    axe_values in = {k, size, cores, NULL};
    int64_t    all = bytes_in(&in, k->n_body, k->body), have = available();

    for (int i = 0; i < k->n_param; i++) {
        int64_t n = bytes_of(&in, k->param[i], 1);
        all = upto(1, all, k->param[i]->dir == AXE_DIR_IN ? n / 2 : n);
    }
    if (all <= have)
        return AXE_OK;
    if (all == INT64_MAX)
        return axe_fail(cx, k->at, AXE_EOVERFLOW,
                        "the reference of %s would take more bytes than int64 "
                        "counts",
                        k->name);
    axe_status st = axe_fail(cx, k->at, AXE_EDEVICE,
                             "the reference of %s would take %" PRId64
                             " bytes; this host has %" PRId64 " left",
                             k->name, all, have);
    axe_help(cx, "check with smaller sizes");
    return st;
}
