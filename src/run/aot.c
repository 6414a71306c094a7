/* aot.c - programs ahead of time: C text from print/aot/aot.c, objects and
 * archives from the system's tools. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "lang/lang.h"
#include "plan/plan.h"
#include "run/array/file.h"
#include "run/cc.h"
#include "run/program.h"
#include "run/target.h"

axe_status
axe_source_kernels(axe_ctx *cx, int32_t source, int *n,
                   const char *const **name)
{
    AXE_NEED(cx, n);
    AXE_NEED(cx, name);
    const axe_module *m;
    const char      **list;

    AXE_TRY(axe_module_parse(cx, source, &m));
    list = axe_new_array(cx, const char *, axe_module_n_kernel(m) + 1);
    for (int i = 0; i < axe_module_n_kernel(m); i++)
        list[i] = axe_module_kernel_name(m, i);
    *n = axe_module_n_kernel(m);
    *name = list;
    return AXE_OK;
}

axe_status
axe_programs_aot(axe_ctx *cx, int n, const axe_program *const *p,
                 const char *name, axe_buf *c, axe_buf *h)
{
    AXE_NEED_ALL(cx, n, p);
    AXE_NEED(cx, name);
    AXE_NEED(cx, c);
    AXE_NEED(cx, h);

    if (n < 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "no kernel is given");
    for (int i = 0; i < n; i++) {
        AXE_NEED(cx, p[i]);
        AXE_TRY(axe_kernel_own(cx, p[i]->kernel));
        AXE_TRY(axe_program_is_one(cx, p[i]));
        if (!p[i]->lowered)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "kernel %s was not compiled so far",
                            p[i]->kernel->name);
        if (p[i]->plan->machine != p[0]->plan->machine)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "kernels %s and %s are for two machines",
                            p[0]->kernel->name, p[i]->kernel->name);
    }
    const axe_target *target = axe_target_of(p[0]->plan->machine);
    if (!target->print_aot) {
        axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "programs for %s have no host's part in C",
                 p[0]->plan->machine->name);
        axe_help(cx, "their text is what axe_program_emit writes: `axe compile "
                     "-o k.py`, or --emit c");
        return AXE_EUNSUPPORTED;
    }
    return target->print_aot(cx, n, p, name, c, h);
}

/* Copy a file that a tool made to where it is wanted, whole or not at all. */
static axe_status
hand_over(axe_ctx *cx, const char *from, const char *to)
{
    axe_bytes  b;
    axe_status st;

    AXE_TRY(axe_file_read(cx, from, &b));
    st = axe_file_write(cx, to, 0666, b.data, b.len);
    free(b.data);
    return st;
}

static axe_status
build(axe_ctx *cx, const char *dir, const char *text, const char *cc_wanted,
      const char *object, const char *archive)
{
    const char *c = axe_textf(cx, "%s/0.c", dir);
    const char *o = axe_textf(cx, "%s/0.o", dir);
    const char *a = axe_textf(cx, "%s/0.a", dir);
    axe_cc      cc;

    AXE_TRY(axe_cc_find(cx, cc_wanted, &cc));
    AXE_TRY(axe_file_write(cx, c, 0600, text, strlen(text)));
    AXE_TRY(axe_cc_object(cx, &cc, c, o));
    if (object)
        AXE_TRY(hand_over(cx, o, object));
    if (!archive)
        return AXE_OK;
    AXE_TRY(axe_cc_archive(cx, o, a));
    return hand_over(cx, a, archive);
}

axe_status
axe_aot_build(axe_ctx *cx, const char *text, const char *cc, const char *object,
              const char *archive)
{
    AXE_NEED(cx, text);
    static const char *const made[] = {"0.c", "0.o", "0.a"};
    const char              *base = getenv("TMPDIR");
    char *dir = axe_textf(cx, "%s/axe_XXXXXX", base && *base ? base : "/tmp");
    axe_status st;

    if (!mkdtemp(dir))
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "%s: no temporary directory to compile in: %s", dir,
                        strerror(errno));
    st = build(cx, dir, text, cc, object, archive);
    for (int i = 0; i < AXE_LEN(made); i++)
        unlink(axe_textf(cx, "%s/%s", dir, made[i]));
    rmdir(dir);
    return st;
}
