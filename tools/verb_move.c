/* verb_move.c - `axe move`: the cheapest program from one layout to another. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "axe/move.h"
#include "machine/machine.h"

static const char help[] =
    "usage: axe move [OPTION]... SRC DST\n"
    "\n"
    "The cheapest program that brings the elements of a tensor from where "
    "layout\n"
    "SRC has them to where DST has them: nothing, other registers, shuffles, "
    "or\n"
    "shared memory with the layout it has there. Its counts are exact, and it "
    "has\n"
    "been executed.\n"
    "\n"
    "  axe move '(8, 4) : (4@lane, 1@lane)' '(8, 4) : (1@lane, 8@lane)'\n"
    "  axe move --bits 16 '(32, 24) : (1@lane, 1@reg)' '(32, 24) : (1@reg, "
    "1@lane)'\n"
    "  axe move '(128, 8) : (1@tx, 1@reg)' '(128, 8) : (8, 1)'\n"
    "\n"
    "A layout over neither threads nor registers is memory: shared memory of "
    "each\n"
    "CTA, or global memory.\n"
    "\n"
    "  -b, --bits N       bits of an element: 4, 8, 16, 32, 64, 128 (default "
    "32)\n"
    "  -m, --machine M    whose threads, shuffles and banks (default sm_90a)\n"
    "      --by WAY       only by shuffles, or by shared memory: shuffles, "
    "shared\n"
    "      --memory WHICH what memory is: shared (default) or global\n"
    "  -p, --program      also the program, instruction by instruction\n"
    "      --json         the counts as JSON\n"
    "  -h, --help         this text\n";

typedef struct options {
    char           **layout; /* SRC, DST */
    axe_move_options move;
    bool             json, program;
} options;

static axe_status
show(axe_ctx *cx, void *user, bool *speaks)
{
    const options          *opt = user;
    const axe_machine      *mc;
    const axe_layout       *src, *dst;
    const axe_move_program *m;

    (void)speaks;
    AXE_TRY(axe_machine_find(cx, opt->move.machine, &mc));
    AXE_TRY(axe_tool_layout(cx, "SRC", opt->layout[0], &src));
    AXE_TRY(axe_tool_layout(cx, "DST", opt->layout[1], &dst));
    AXE_TRY(axe_move_plan(cx, src, dst, &opt->move, &m));
    if (opt->json)
        puts(axe_move_json(cx, m));
    else
        fputs(axe_move_text(cx, m, opt->program), stdout);
    return AXE_OK;
}

int
axe_verb_move(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"bits", required_argument, NULL, 'b'},
        {"machine", required_argument, NULL, 'm'},
        {"by", required_argument, NULL, 'w'},
        {"memory", required_argument, NULL, 'M'},
        {"program", no_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    options opt = {.move = {.machine = "sm_90a"}};
    int     c;

    while ((c = getopt_long(argc, argv, "b:m:ph", long_options, NULL)) != -1)
        switch (c) {
        case 'b':
            opt.move.bits = (int)axe_tool_number(optarg, (1 << 20) - 1);
            if (opt.move.bits == 0)
                return axe_tool_usage(
                    "move", "--bits '%s' is no number of bits", optarg);
            break;
        case 'm':
            opt.move.machine = optarg;
            break;
        case 'w':
            if (strcmp(optarg, "shuffles") == 0)
                opt.move.by = AXE_MOVE_SHUFFLE;
            else if (strcmp(optarg, "shared") == 0)
                opt.move.by = AXE_MOVE_SHARED;
            else
                return axe_tool_usage(
                    "move", "--by is shuffles or shared, not '%s'", optarg);
            break;
        case 'M':
            if (strcmp(optarg, "global") == 0)
                opt.move.memory = AXE_MOVE_IN_GLOBAL;
            else if (strcmp(optarg, "shared") != 0)
                return axe_tool_usage(
                    "move", "--memory is shared or global, not '%s'", optarg);
            break;
        case 'p':
            opt.program = true;
            break;
        case 'j':
            opt.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        default:
            return axe_tool_wrong(argv, long_options);
        }
    if (argc - optind != 2)
        return axe_tool_usage("move", "it takes two layouts, SRC and DST");
    opt.layout = argv + optind;
    return axe_tool_do(show, &opt);
}
