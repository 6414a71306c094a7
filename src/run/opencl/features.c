/* features.c - what devices have, by the words of features.def,
 * and which of them run a machine's programs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "run/opencl/must.h"
#include "run/opencl/opencl_int.h"

static const struct {
    const char *word, *text;
} features[] = {
#define FEATURE(word, extension, asks, bits, text) {word, text},
#include "run/opencl/features.def"
};

static const struct {
    const char    *word;
    axe_opencl_way way;
} ways[] = {
#define FEATURE(word, extension, asks, bits, text)                             \
    {word, {0, extension, asks, bits}},
#include "run/opencl/features.def"
};

/* N of "sgN"; 0: it is no such word. */
static int
width_of(const char *word)
{
    char *end;
    long  n;

    if (strncmp(word, "sg", 2) != 0 || !isdigit((unsigned char)word[2]))
        return 0;
    n = strtol(word + 2, &end, 10);
    return *end == '\0' && n > 0 && n <= 1024 ? (int)n : 0;
}

bool
axe_cl_has(const axe_opencl_facts *f, const char *word)
{
    size_t n = strlen(word);
    int    width = width_of(word);

    for (int i = 0; i < f->n_width && width > 0; i++)
        if (f->width[i] == width)
            return true;
    for (const char *s = f->features; (s = strstr(s, word)); s++)
        if (s[-1] == ' ' && s[n] == ' ')
            return true;
    return false;
}

/* What the word stands for; NULL: nothing. */
static const char *
meaning(axe_ctx *cx, const char *word)
{
    for (int i = 0; i < AXE_LEN(features); i++)
        if (strcmp(features[i].word, word) == 0)
            return features[i].text;
    return width_of(word) > 0
               ? axe_textf(cx, "sub-groups of %d lanes", width_of(word))
               : NULL;
}

/* The first word that the device lacks, NULL: none; or an unknown one. */
static const char *
lacking(axe_ctx *cx, const axe_opencl_facts *f, const char *list, bool unknown)
{
    for (const char *s = list + strspn(list, " "); *s; s += strspn(s, " ")) {
        size_t      n = strcspn(s, " ");
        const char *word = axe_textf(cx, "%.*s", (int)n, s);
        if (unknown ? !meaning(cx, word) : !axe_cl_has(f, word))
            return word;
        s += n;
    }
    return NULL;
}

/* What would do: another device here. */
static void
help_other(axe_ctx *cx, const char *list)
{
    const axe_opencl_facts *all;
    int                     n = 0;

    if (axe_opencl_list(cx, &n, &all) != AXE_OK)
        return;
    for (int i = 0; i < n; i++)
        if (!lacking(cx, &all[i], list, false)) {
            axe_help(cx, "device %d has it: %s of %s", i, all[i].name,
                     all[i].platform);
            return;
        }
    axe_help(cx, "no device here has it; `axe devices` says what each has");
}

static axe_status
check_device(axe_ctx *cx, const axe_opencl_facts *f, const char *list)
{
    const char *word = lacking(cx, f, list, false);

    if (!word)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "%s of %s has no %s: %s",
             f->name, f->platform, word, meaning(cx, word));
    help_other(cx, list);
    return AXE_EUNSUPPORTED;
}

axe_status
axe_opencl_need(axe_ctx *cx, const axe_opencl *cl, const char *list)
{
    AXE_TRY(axe_cl_device_check(cx, __func__, cl));
    AXE_NEED(cx, list);
    const char *word = lacking(cx, &cl->facts, list, true);

    if (word)
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                        "`%s` is no feature of an OpenCL device", word);
    return check_device(cx, &cl->facts, list);
}

/* ------------------------------------------------------------- a machine's */

void
axe_cl_must(axe_ctx *cx, const axe_machine *mc, axe_opencl_must *out)
{
    const char     *list = axe_opencl_needs(cx, mc);
    axe_opencl_way *way = axe_new_array(
        cx, axe_opencl_way, AXE_LEN(ways) * (int)(strlen(list) + 1));
    int number = 0;

    *out = (axe_opencl_must){.way = way};
    for (const char *s = list; *s; s += strspn(s, " "), number++) {
        size_t      n = strcspn(s, " ");
        const char *word = axe_textf(cx, "%.*s", (int)n, s);
        if (width_of(word) > 0)
            out->lanes = width_of(word);
        for (int i = 0; i < AXE_LEN(ways); i++)
            if (strcmp(ways[i].word, word) == 0) {
                way[out->n] = ways[i].way;
                way[out->n++].number = number;
            }
        s += n;
    }
}

static axe_status
no_device(axe_ctx *cx, const char *machine, const char *list, int n)
{
    if (n == 0) {
        axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                 "no platform of OpenCL has a device");
        axe_help(cx,
                 "install a runtime (for CPUs: pocl-opencl-icd); `axe sim` "
                 "runs programs for %s without one",
                 machine);
        return AXE_EDEVICE;
    }
    axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
             "no OpenCL device here runs programs for %s: it needs %s", machine,
             list);
    axe_help(cx, "`axe devices` says what each has; --target opencl needs no "
                 "sub-groups");
    return AXE_EDEVICE;
}

axe_status
axe_opencl_choose(axe_ctx *cx, const char *machine, int number,
                  const axe_opencl_facts **out)
{
    AXE_NEED(cx, machine);
    AXE_NEED(cx, out);
    const axe_machine      *mc;
    const axe_opencl_facts *all;
    const char             *list;
    int                     n;

    AXE_TRY(axe_machine_find(cx, machine, &mc));
    if (mc->language != AXE_LANGUAGE_opencl)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s is no machine of OpenCL",
                        machine);
    list = axe_opencl_needs(cx, mc);
    AXE_TRY(axe_opencl_list(cx, &n, &all));
    if (number >= n) {
        axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                 "there is no OpenCL device %d: the platforms have %d", number,
                 n);
        axe_help(cx, "`axe devices` lists them");
        return AXE_EDEVICE;
    }
    for (int i = 0; i < n && number < 0; i++)
        if (!lacking(cx, &all[i], list, false))
            number = i;
    if (number < 0)
        return no_device(cx, machine, list, n);
    *out = &all[number];
    return check_device(cx, *out, list);
}
