/* names.c - names that a kernel's text in C cannot have. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* As texts, for some are macros here; sorted. */
static const char *const host_names[] = {
#define NAME(name) #name,
#include "base/names.def"
};

typedef struct device_name {
    const char *name;
    const char *ends; /* "": names end there; a digit: or in the length of a
                         vector; "*": whatever comes behind it */
} device_name;

static const device_name device_names[] = {
#define TYPE(name) {#name, "1"}, {"as_" #name, "*"}, {"convert_" #name, "*"},
#define FAMILY(name) {#name, "*"},
#define NAME(name) {#name, ""},
#include "base/device_names.def"
};

static int
by_name(const void *key, const void *at)
{
    return strcmp(key, *(const char *const *)at);
}

static bool
is_host_name(const char *stem)
{
    bool upper = stem[0] == 'c' && (stem[1] == 'u' || stem[1] == 'l') &&
                 isupper((unsigned char)stem[2]);

    return stem[0] == '_' || upper || strncmp(stem, "axe_", 4) == 0 ||
           strncmp(stem, "AXE_", 4) == 0 ||
           bsearch(stem, host_names, AXE_LEN(host_names), sizeof host_names[0],
                   by_name);
}

static bool
is_row(const device_name *d, const char *stem)
{
    size_t n = strlen(d->name);

    if (strncmp(stem, d->name, n) != 0)
        return false;
    return stem[n] == '\0' || *d->ends == '*' ||
           (*d->ends == '1' && strspn(stem + n, "123468") == strlen(stem + n));
}

/* A row, or a type of a header: size_t, sampler_t. */
static bool
is_device_name(const char *stem)
{
    size_t n = strlen(stem);

    for (size_t i = 0; i < AXE_LEN(device_names); i++)
        if (is_row(&device_names[i], stem))
            return true;
    return n > 2 && strcmp(stem + n - 2, "_t") == 0;
}

/* Underscores behind a name do not count: what gets one more is nobody's. */
static const char *
stem_of(axe_ctx *cx, const char *name)
{
    char *stem = axe_textf(cx, "%s", name);

    for (size_t n = strlen(stem); n > 1 && stem[n - 1] == '_'; n--)
        stem[n - 1] = '\0';
    return stem;
}

const char *
axe_host_name(axe_ctx *cx, const char *name)
{
    return is_host_name(stem_of(cx, name)) ? axe_textf(cx, "%s_", name) : name;
}

/* Names of our own making have dots, "product.device0". */
static const char *
without_dots(axe_ctx *cx, const char *name)
{
    char *out;

    if (!strchr(name, '.'))
        return name;
    out = axe_textf(cx, "%s", name);
    for (char *c = out; *c; c++)
        if (*c == '.')
            *c = '_';
    return out;
}

const char *
axe_device_name(axe_ctx *cx, const char *name)
{
    const char *stem;

    name = without_dots(cx, name);
    stem = stem_of(cx, name);
    return is_host_name(stem) || is_device_name(stem)
               ? axe_textf(cx, "%s_", name)
               : name;
}
