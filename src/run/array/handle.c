/* handle.c - is a handle what it is taken for, and is it this process's? */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <stdatomic.h>

#include "run/array/handle.h"

static const char *const kind_text[] = {
#define HANDLE(name, text) text,
#include "run/array/handle.def"
};

axe_status
axe_tag_check(axe_ctx *cx, const char *fn, const char *what, const axe_tag *tag,
              axe_tag kind)
{
    if (!cx || !tag)
        return axe_need_fail(cx, fn, what, 0);
    if (*tag == kind)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: %s is not %s, or no longer",
                    fn, what, kind_text[kind - AXE_TAG_NONE - 1]);
}

void
axe_tag_drop(axe_tag *tag)
{
    *(volatile axe_tag *)tag = AXE_TAG_NONE;
}

static atomic_uint forks;

static void
count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned
axe_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    return atomic_load(&forks);
}

axe_status
axe_forks_check(axe_ctx *cx, unsigned before)
{
    axe_status st;

    if (before == atomic_load(&forks))
        return AXE_OK;
    st = axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                  "the device was made before this process was forked, and it "
                  "is still the parent's");
    axe_help(cx, "make a device after the fork, in each process its own");
    return st;
}
