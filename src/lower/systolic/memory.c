/* memory.c - transfers between device memory and SBUF: as the elements lie, or
 * turned by the tensor engine. */
#include "lower/systolic/sys.h"

static const char *
memory(sys *s, const axe_tensor *t, sys_ex off, sys_ex n, sys_ex by, sys_ex m,
       sys_ex step)
{
    return axe_textf(s->cx, "%s[%s : %s by %s, %s by %s]", s->name[t->id],
                     sys_text(s, off), sys_text(s, n), sys_text(s, by),
                     sys_text(s, m), sys_text(s, step));
}

/* dst[p, f ..] = src[.., p], n_f of them. */
void
sys_transpose(sys *s, const sys_val *src, const sys_val *dst, sys_ex f,
              sys_ex n_f, sys_ex n_p)
{
    sys_val bank = sys_bank(s, src->type, 1), to = *dst;

    sys_line(s, "tensor nc_transpose %s, %s", sys_put(s, &bank, n_p, n_f),
             sys_put(s, src, n_f, n_p));
    to.off = sys_add(s, to.off, sys_mul(s, f, to.step));
    sys_copy(s, &to, &bank, n_p, n_f);
}

static void
fetch_turned_memory(sys *s, const axe_node *load, const sys_area *a,
                    const sys_val *dst)
{
    const axe_tensor *t = load->u.tensor;
    bool              opened;
    sys_ex  fb = sys_for(s, "f", sys_up(s, a->cols, AXE_SYSTOLIC_P), &opened);
    sys_ex  f = sys_mul(s, sys_c(AXE_SYSTOLIC_P), fb);
    sys_ex  n = sys_rest(s, a->cols, f, AXE_SYSTOLIC_P, opened);
    int64_t mark = s->temp;
    sys_val rows = sys_temp(s, t->type, AXE_SYSTOLIC_P);

    sys_line(s, "dma dma_copy %s, %s", sys_put(s, &rows, n, a->parts),
             memory(s, t, sys_add(s, a->off, sys_mul(s, f, a->fs)), n, a->fs,
                    a->parts, a->ps));
    sys_transpose(s, &rows, dst, f, n, a->parts);
    s->temp = mark;
    sys_end(s, opened);
}

void
sys_fetch_memory(sys *s, const axe_node *load, const sys_val *dst)
{
    const axe_tensor *t = load->u.tensor;
    sys_area          a;

    sys_fill_outside(s, load, dst);
    sys_area_open(s, load, 0, &a);
    if (s->st != AXE_OK)
        return;
    if (s->F && s->P && !sys_is(a.fs, 1) && sys_is(a.ps, 1) &&
        !sys_is(a.fs, 0) && sys_is(a.p0, 0) && sys_is(a.f0, 0))
        fetch_turned_memory(s, load, &a, dst);
    else
        sys_line(
            s, "dma dma_copy %s, %s", sys_area_part(s, dst, &a),
            memory(s, t, a.off, a.parts, a.ps, a.cols, s->F ? a.fs : sys_c(1)));
    sys_area_close(s, &a);
}

void
sys_store(sys *s, const axe_node *dst, const sys_val *v)
{
    sys_area a;

    sys_area_open(s, dst, 0, &a);
    if (s->st != AXE_OK)
        return;
    sys_line(s, "dma dma_copy %s, %s",
             memory(s, dst->u.tensor, a.off, a.parts, s->P ? a.ps : sys_c(1),
                    a.cols, s->F ? a.fs : sys_c(1)),
             sys_area_part(s, v, &a));
    sys_area_close(s, &a);
}
