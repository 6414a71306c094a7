/* multimem.c - loads at an address that is one of each of several GPUs. */
#include <string.h>

#include "../fake/driver.h"
#include "ptx.h"

enum { MOST_GPU = 16 };

/* The sum over all GPUs of element k at `at`; NULL pointers: reported. */
static bool
add_up(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n, uint64_t *out)
{
    const ptx_type *t = i->type[0];
    void           *block[MOST_GPU];
    int n_block = fake_blocks((void *)(uintptr_t)at, block, MOST_GPU);

    if (n_block < 2) {
        ptx_wrong(w, i, "%#llx is no address of several GPUs",
                  (unsigned long long)at);
        return false;
    }
    for (int b = 0; b < n_block; b++) {
        uint64_t       v = 0;
        unsigned char *p =
            ptx_global(w, i, (uint64_t)(uintptr_t)block[b], n, n, A_READ);

        if (!p)
            return false;
        memcpy(&v, p, n);
        *out = b == 0 ? v : ptx_add(t, *out, v);
    }
    return true;
}

ptx_result
ptx_multimem(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_type *t = i->n_type ? i->type[0] : NULL;
    size_t          n = t ? (size_t)t->bits / 8 : 0;

    if (!t || i->n_arg != 2 || i->arg[0].n != i->vec || !ptx_has(i, W_ADD) ||
        (i->vec > 1 && t->bits * i->vec != 128))
        return ptx_wrong(w, i, "this form is not known");
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t at = ptx_address(w, &i->arg[1], l);

        if (at % (n * (size_t)i->vec) != 0)
            return ptx_wrong(w, i, "%#llx is no multiple of %zu",
                             (unsigned long long)at, n * (size_t)i->vec);
        for (int k = 0; k < i->vec; k++) {
            uint64_t v = 0;

            if (!add_up(w, i, at + n * (size_t)k, n, &v))
                return PTX_WRONG;
            ptx_put(w, &i->arg[0].op[k], l, v);
        }
    }
    return PTX_DONE;
}
