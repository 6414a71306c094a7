/* take.c - clusters that have not begun are taken by one that runs, and hints
 * to the caches.
 *
 * An answer is 16 bytes of which only we know the meaning: whether a cluster
 * was taken, and, from byte 4 on, its first CTA. */
#include <string.h>

#include "ptx.h"

enum { ANSWER = 16 };

ptx_result
ptx_policy(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1)
        ptx_put(w, i->arg[0].op, ptx_first(left), 0);
    return PTX_DONE;
}

/* a: answer, mbarrier, whether all CTAs are told. */
static ptx_result
take_now(ptx_job *j)
{
    ptx_cluster *c = j->warp->cta->cluster;
    uint64_t     answer = 0;

    if (c->next < c->n_block) {
        answer = (uint64_t)c->next << 32 | 1;
        c->next += c->n_cta;
    }
    for (uint64_t r = 0; r < (j->a[2] ? (uint64_t)c->n_cta : 1); r++) {
        uint64_t       in = j->a[2] ? (r + 1) << RANK_SHIFT : 0;
        unsigned char *p =
            ptx_shared(j->warp, j->insn, in | j->a[0], ANSWER, ANSWER, A_WRITE);
        if (!p)
            return PTX_WRONG;
        memset(p, 0, ANSWER);
        memcpy(p, &answer, sizeof answer);
        if (ptx_bytes_come(j->warp, j->insn, in | j->a[1], ANSWER) != PTX_DONE)
            return PTX_WRONG;
    }
    return PTX_DONE;
}

static ptx_result
fill_take(ptx_job *j, int l)
{
    const ptx_insn *i = j->insn;

    j->a[0] = ptx_address(j->warp, &i->arg[0], l);
    j->a[1] = ptx_address(j->warp, &i->arg[1], l);
    j->a[2] = ptx_has(i, W_ALL);
    return PTX_DONE;
}

ptx_result
ptx_take(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return ptx_issue_each(w, i, lanes, J_BOX, take_now, fill_take);
}

ptx_result
ptx_taken(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = ptx_first(left);
        ptx_put(w, i->arg[0].op, l, ptx_get(w, i->arg[1].op, l) & 1);
    }
    return PTX_DONE;
}

ptx_result
ptx_taken_block(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t answer = ptx_get(w, i->arg[1].op, l);
        if (!(answer & 1))
            return ptx_wrong(w, i, "no CTA was taken");
        ptx_put(w, i->arg[0].op, l, answer >> 32);
    }
    return PTX_DONE;
}
