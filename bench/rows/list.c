/* list.c - the programs of a list like tests/sim.list: a line has a file, a
 * kernel, machines, types or "-", then sizes and --set NAME=VALUE. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "run/array/file.h"

/* "80,90,100" has "sm_90a" or not. */
static bool
is_for(const char *list, const char *machine)
{
    const char *number = machine + strlen("sm_");
    size_t      n = strspn(number, "0123456789");

    for (const char *s = list; s; s = strchr(s, ',')) {
        s += *s == ',';
        if (strncmp(s, number, n) == 0 && (s[n] == ',' || s[n] == '\0'))
            return true;
    }
    return false;
}

/* What stands behind each --set; sizes are given when a program is run. */
static const char *
sets_of(axe_ctx *cx, char **at)
{
    axe_buf set = {.cx = cx};
    bool    is_set = false;

    for (char *word; (word = strtok_r(NULL, " ", at));) {
        if (is_set)
            axe_putf(&set, " %s", word);
        is_set = strcmp(word, "--set") == 0;
    }
    return set.text ? set.text : "";
}

/* Returns how many there are; out and *n are counted on for those that plan. */
static int
add_line(axe_ctx *cx, char *line, const char *machine, int most,
         const axe_program **out, int *n)
{
    char       *at, *type_at, *file = strtok_r(line, " ", &at);
    char       *kernel = strtok_r(NULL, " ", &at);
    char       *on = strtok_r(NULL, " ", &at);
    char       *types = strtok_r(NULL, " ", &at);
    const char *set;
    int         all = 0;

    if (!types || !is_for(on, machine))
        return 0;
    set = sets_of(cx, &at);
    for (char *t = strtok_r(types, ",", &type_at); t && *n < most;
         t = strtok_r(NULL, ",", &type_at)) {
        row r = {.file = file, .kernel = kernel, .otherwise = ""};
        r.set = strcmp(t, "-") == 0 ? set : axe_textf(cx, "T=%s%s", t, set);
        all++;
        *n += row_compile(cx, &r, machine, &out[*n]) == AXE_OK;
    }
    return all;
}

axe_status
list_compile(axe_ctx *cx, const char *path, const char *machine, int most,
             const axe_program **out, int *n, int *all)
{
    axe_bytes text;
    char     *at, *copy;

    AXE_TRY(axe_file_read(cx, path, &text));
    copy = axe_textf(cx, "%.*s", (int)text.len, (const char *)text.data);
    free(text.data);
    for (char *line = strtok_r(copy, "\n", &at); line;
         line = strtok_r(NULL, "\n", &at))
        if (line[0] != '#')
            *all += add_line(cx, line, machine, most, out, n);
    return AXE_OK;
}
