/* sig.c - what a caller must know of a kernel before it can instantiate it. */
#include <string.h>

#include "lang/lang.h"
#include "lang/syntax.h"

static const axe_const_decl *
find_const(const axe_kernel_decl *k, const char *name)
{
    for (int i = 0; i < k->n_const; i++)
        if (k->consts[i]->word.name == name)
            return k->consts[i];
    return NULL;
}

static axe_param_sig
param_sig(axe_ctx *cx, const axe_kernel_decl *k, const axe_tensor_decl *t)
{
    const axe_const_decl *c = find_const(k, t->type.word.name);

    return (axe_param_sig){
        .name = t->word.name,
        .dir = t->dir,
        .rank = t->n_dim,
        .extent = t->dim_text,
        .type = t->type.accum ? axe_textf(cx, "accum(%s)", t->type.word.name)
                              : t->type.word.name,
        .type_is_param = c && c->is_type,
    };
}

static const axe_tune_decl *
find_tune(const axe_kernel_decl *k, const char *name)
{
    for (int i = 0; i < k->n_tune; i++)
        if (k->tune[i]->word.name == name)
            return k->tune[i];
    return NULL;
}

static void
fill(axe_ctx *cx, const axe_kernel_decl *k, axe_kernel_sig *out)
{
    axe_param_sig      *param = axe_new_array(cx, axe_param_sig, k->n_param);
    const char        **name = axe_new_array(cx, const char *, k->n_const);
    const char        **text = axe_new_array(cx, const char *, k->n_const);
    int                *n_domain = axe_new_array(cx, int, k->n_const);
    const char *const **domain =
        axe_new_array(cx, const char *const *, k->n_const);
    for (int i = 0; i < k->n_param; i++)
        param[i] = param_sig(cx, k, k->param[i]);
    for (int i = 0; i < k->n_const; i++) {
        name[i] = k->consts[i]->word.name;
        text[i] = k->consts[i]->text;
        const axe_tune_decl *t = find_tune(k, name[i]);
        n_domain[i] = t ? t->n : 0;
        domain[i] = t ? t->text : NULL;
    }
    *out = (axe_kernel_sig){.name = k->word.name,
                            .target = k->target,
                            .n_param = k->n_param,
                            .n_const = k->n_const,
                            .param = param,
                            .const_name = name,
                            .const_default = text,
                            .n_domain = n_domain,
                            .domain = domain};
}

static void
fill_mesh(axe_ctx *cx, const axe_module *m, axe_kernel_sig *out)
{
    const char **axis = axe_new_array(cx, const char *, m->n_axis);
    const char **size = axe_new_array(cx, const char *, m->n_axis);

    for (int i = 0; i < m->n_axis; i++) {
        axis[i] = m->axis[i]->word.name;
        size[i] = m->axis[i]->text;
    }
    out->n_axis = m->n_axis;
    out->axis = axis;
    out->axis_size = size;
}

axe_status
axe_module_sig(axe_ctx *cx, const axe_module *m, const char *kernel,
               axe_kernel_sig *out)
{
    const axe_kernel_decl *k;
    axe_status             st = axe_kernel_find(cx, m, kernel, &k);

    if (st == AXE_OK)
        fill(cx, k, out);
    if (st == AXE_OK && k->meshed)
        fill_mesh(cx, m, out);
    return st;
}
