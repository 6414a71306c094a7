/* verb_cache.c - `axe cache`: the compiled kernels that are kept, shown and
 * removed. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "axe.h"
#include "base/json.h"
#include "run/cache/cache.h"
#include "run/cache/trust.h"

static const char verb[] = "cache";

static const char help[] =
    "usage: axe cache [OPTION]... [show | clear]\n"
    "\n"
    "Shows the directory of compiled kernels (default), or removes them from\n"
    "it.  What `axe tune` has found is kept there, too, and stays.\n"
    "\n"
    "The directory is $AXE_CACHE, else $XDG_CACHE_HOME/axe, else\n"
    "~/.cache/axe.  Beyond $AXE_CACHE_MAX bytes (K, M, G or T may stand "
    "behind;\n"
    "default 1G) the kernels used longest ago go.\n"
    "\n"
    "      --cache DIR         another directory\n"
    "      --json              as one line of JSON\n"
    "  -h, --help              this text\n";

enum { OPT_CACHE = 1000, OPT_JSON };

static const struct option known[] = {
    {"cache", required_argument, NULL, OPT_CACHE},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {0}};

typedef struct options {
    const char *cache;
    bool        json, clear, help;
} options;

static int
read_args(int argc, char **argv, options *o)
{
    int c;

    while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_usage(verb, "wrong option");
        o->help = o->help || c == 'h';
        o->json = o->json || c == OPT_JSON;
        o->cache = c == OPT_CACHE ? optarg : o->cache;
    }
    for (int i = optind; i < argc; i++) {
        o->clear = strcmp(argv[i], "clear") == 0;
        if ((!o->clear && strcmp(argv[i], "show") != 0) || i > optind)
            return axe_tool_usage(verb, "'%s' is neither show nor clear",
                                  argv[i]);
    }
    return AXE_EXIT_OK;
}

static const char *
day_text(axe_ctx *cx, int64_t seconds)
{
    time_t     t = (time_t)seconds;
    struct tm *at = localtime(&t);

    return at ? axe_textf(cx, "%04d-%02d-%02d %02d:%02d", at->tm_year + 1900,
                          at->tm_mon + 1, at->tm_mday, at->tm_hour, at->tm_min)
              : "?";
}

static void
put_people(axe_ctx *cx, const char *dir, const char *why, axe_cache_stat s)
{
    printf("%s\n", axe_text_plain(cx, dir));
    if (why)
        printf("not used: %s\n", why);
    if (axe_cache_most_is_wrong())
        printf("AXE_CACHE_MAX is no size such as 512M: %s\n",
               axe_text_plain(cx, getenv("AXE_CACHE_MAX")));
    printf("%" PRId64 " kernel%s, %.1f of at most %.1f MiB\n", s.n,
           s.n == 1 ? "" : "s", (double)s.bytes / 1048576,
           (double)axe_cache_most() / 1048576);
    if (s.n > 0)
        printf("used between %s and %s\n", day_text(cx, s.oldest),
               day_text(cx, s.newest));
}

static void
put_json(axe_ctx *cx, const char *dir, const char *why, axe_cache_stat s,
         int64_t gone)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "{\"dir\": ");
    axe_json_put_text(&b, dir, strlen(dir));
    axe_putf(&b,
             ", \"kernels\": %" PRId64 ", \"bytes\": %" PRId64
             ", \"most_bytes\": %" PRId64,
             s.n, s.bytes, axe_cache_most());
    if (s.n > 0)
        axe_putf(&b, ", \"oldest\": %" PRId64 ", \"newest\": %" PRId64,
                 s.oldest, s.newest);
    if (gone >= 0)
        axe_putf(&b, ", \"removed\": %" PRId64, gone);
    axe_puts(&b, ", \"not_used\": ");
    if (why)
        axe_json_put_text(&b, why, strlen(why));
    else
        axe_puts(&b, "null");
    printf("%s}\n", b.text);
}

static int
work(axe_ctx *cx, const options *o)
{
    const char    *dir = axe_cache_choose(cx, o->cache), *why;
    axe_cache_stat s;
    int64_t        gone = -1;

    if (!dir) {
        fprintf(stderr, "axe cache: there is no HOME to keep kernels in\n"
                        "  help: name a directory in AXE_CACHE\n");
        return AXE_EXIT_FAIL;
    }
    why = access(dir, F_OK) == 0 ? axe_distrust(dir) : NULL;
    if (o->clear)
        gone = axe_cache_clear(dir);
    s = axe_cache_look(dir);
    if (o->json)
        put_json(cx, dir, why, s, gone);
    else if (o->clear)
        printf("%s: %" PRId64 " kernel%s removed\n", axe_text_plain(cx, dir),
               gone, gone == 1 ? "" : "s");
    else
        put_people(cx, dir, why, s);
    return o->clear && s.n > 0 ? AXE_EXIT_FAIL : AXE_EXIT_OK;
}

int
axe_verb_cache(int argc, char **argv)
{
    options  o = {0};
    int      code = read_args(argc, argv, &o);
    axe_ctx *cx = axe_ctx_new();

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK)
        code = work(cx, &o);
    axe_ctx_free(cx);
    return code == AXE_EXIT_OK ? axe_tool_finish(code) : code;
}
