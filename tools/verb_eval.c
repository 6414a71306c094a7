/* verb_eval.c - `axe eval`: one JSON request a line in, one reply a line out,
 * each flushed, so that another program can hold the process open. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "axe/eval.h"
#include "axe/machine.h"

static const char help[] =
    "usage: axe eval [OPTION]...\n"
    "\n"
    "Reads one request a line from standard input and writes one reply a "
    "line:\n"
    "\n"
    "  {\"id\": 1, \"op\": \"size\", \"in\": {\"layout\": \"(2, 3) : (3, "
    "1)\"}}\n"
    "  {\"id\":1,\"out\":6}\n"
    "\n"
    "It never stops at a bad line; {\"op\": \"ops\"} lists the operations.\n"
    "\n"
    "  -m, --machine M    use the axes of machine M in requests without a "
    "target\n"
    "      --strict-axes  refuse axes that no machine declares\n"
    "  -h, --help         this text\n";

/* A request's bytes at most: what has no end of line is no request. */
#define MOST ((size_t)64 << 20)

typedef struct text {
    size_t n, cap;
    char  *byte;
} text;

/* The next line, its end included.  Returns NULL, or what is wrong. */
static const char *
next_line(text *t)
{
    int c;

    t->n = 0;
    do {
        if ((c = getc_unlocked(stdin)) == EOF)
            break;
        if (t->n == MOST)
            return "a request does not end within 64 MiB";
        if (t->n == t->cap) {
            size_t cap = t->cap ? 2 * t->cap : 4096;
            char  *more = realloc(t->byte, cap);
            if (!more)
                return "out of memory";
            t->byte = more;
            t->cap = cap;
        }
        t->byte[t->n++] = (char)c;
    } while (c != '\n');
    return NULL;
}

static int
serve(const axe_eval_options *opt)
{
    axe_eval   *ev = axe_eval_new(opt);
    text        line = {0};
    const char *wrong = ev ? NULL : "out of memory";
    bool        open = true;

    while (open && !wrong && !(wrong = next_line(&line)) && line.n > 0) {
        const char *reply = axe_eval_line(ev, line.byte, line.n);

        open = puts(reply) >= 0 && fflush(stdout) == 0;
    }
    if (wrong)
        fprintf(stderr, "axe eval: %s\n", wrong);
    free(line.byte);
    axe_eval_free(ev);
    return axe_tool_finish(wrong ? AXE_EXIT_FAIL : AXE_EXIT_OK);
}

int
axe_verb_eval(int argc, char **argv)
{
    static const struct option options[] = {
        {"machine", required_argument, NULL, 'm'},
        {"strict-axes", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    axe_eval_options opt = {.machine = axe_machine_axes,
                            .more = axe_machine_ops()};
    int              c;

    while ((c = getopt_long(argc, argv, "m:h", options, NULL)) != -1)
        switch (c) {
        case 'm':
            opt.default_name = optarg;
            break;
        case 's':
            opt.strict_axes = true;
            break;
        case 'h':
            fputs(help, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        default:
            return axe_tool_wrong(argv, options);
        }
    if (optind < argc)
        return axe_tool_usage("eval", "unexpected argument '%s'", argv[optind]);
    if (opt.default_name && !axe_machine_axes(opt.default_name))
        return axe_tool_usage("eval", "there is no machine '%s'",
                              opt.default_name);
    return serve(&opt);
}
