/* verb_reshard.c - `axe reshard`: a tensor from one spread over devices to
 * another. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "axe/mesh.h"
#include "reshard_run.h"

static const char help[] =
    "usage: axe reshard [OPTION]... --mesh MESH SRC DST\n"
    "\n"
    "The quickest plan that brings a tensor from where SRC has it on the "
    "devices\n"
    "of a mesh to where DST has it: collectives, or an exchange in which each\n"
    "device gets what it lacks from one that has it; with the least that any "
    "plan\n"
    "must move.\n"
    "\n"
    "  axe reshard --mesh 'x=4, y=2' '24@x, 24@y' '24@y, 24@x'\n"
    "  axe reshard --mesh 'node=2@far, gpu=8' '4096@(node, gpu)' 4096\n"
    "  axe reshard --mesh 'x=4' '4096, 64 + partial(x)' '4096@x, 64'\n"
    "\n"
    "SRC and DST name the axes over which dimensions are cut, 'at x=0' where\n"
    "one device alone has it, 'partial' where devices hold addends; or they "
    "are\n"
    "layouts over gpuid and m.\n"
    "\n"
    "  -M, --mesh MESH    axes, their sizes and links: 'x=2, y=4 @ far; order "
    "y, x;\n"
    "                     far: 2us, 25GB/s'\n"
    "  -f, --format F     SRC and DST are texts of another system: jax, "
    "dtensor,\n"
    "                     shardy, gspmd, alpa, ..: 'axe help formats' has "
    "them\n"
    "  -s, --shape N,M    for which this is the tensor's shape\n"
    "  -b, --bits N       bits of an element (default: those of --type, or "
    "32)\n"
    "      --memory N     elements that a device may hold between steps\n"
    "      --measured     links take what `axe mesh --measure` has found here\n"
    "      --no-latency   messages cost nothing but their bytes\n"
    "  -d, --draw         also who has what, and who gives whom how much\n"
    "  -o, --output FILE  that as an SVG instead ('-': to stdout)\n"
    "      --json         the plan as JSON\n"
    "  -r, --run          carry it out on processes, one for each device: "
    "compare\n"
    "                     each element with what it should be, count bytes\n"
    "      --engine E     by shm (one host), openmpi or mpich; else by what "
    "has\n"
    "                     launched this\n"
    "      --type T       of elements: i8, i16, i32, i64, f32, f64\n"
    "      --timeout S    seconds that a process waits for another (default "
    "30)\n"
    "  -h, --help         this text\n";

enum { MOST_EXTENTS = 8 };

typedef struct options {
    char              **spread; /* SRC, DST */
    axe_reshard_options plan;
    const char         *mesh, *output, *format;
    bool                json, draw, run, measured;
    reshard_run         running;
    axe_shape           shape;
    int64_t             extent[MOST_EXTENTS];
} options;

static axe_status
read(axe_ctx *cx, const axe_mesh *m, const char *text, const options *opt,
     axe_spread *out)
{
    return opt->format
               ? axe_spread_convert(cx, m, opt->format, opt->shape, text, out)
               : axe_spread_read(cx, m, text, out);
}

/* Of links that the mesh does not describe. */
static axe_status
take_measured(axe_ctx *cx, const options *opt, const axe_mesh **mesh)
{
    const char     *engine = opt->running.engine ? opt->running.engine : "shm";
    const axe_mesh *m = *mesh;

    for (int i = 0; i < m->n_link; i++) {
        axe_link l;
        bool     found;

        if (m->link[i].known)
            continue;
        AXE_TRY(axe_links_find(cx, NULL, engine, m->link[i].name, &l, &found));
        if (!found)
            return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                            "reshard: link %s is not measured here by %s: "
                            "axe mesh --measure --engine %s",
                            m->link[i].name, engine, engine);
        *mesh = axe_mesh_with(cx, *mesh, &l);
    }
    return AXE_OK;
}

static axe_status
show(axe_ctx *cx, void *user, bool *speaks)
{
    options                *opt = user;
    bool                    quiet = false;
    axe_status              status;
    const axe_mesh         *m;
    axe_spread              src, dst;
    const axe_reshard_plan *r;
    axe_buf                 picture = {.cx = cx};

    AXE_TRY(axe_mesh_read(cx, opt->mesh, &m));
    if (opt->measured)
        AXE_TRY(take_measured(cx, opt, &m));
    AXE_TRY(read(cx, m, opt->spread[0], opt, &src));
    AXE_TRY(read(cx, m, opt->spread[1], opt, &dst));
    AXE_TRY(axe_reshard(cx, m, &src, &dst, &opt->plan, &r));
    if (opt->run) {
        opt->running.json = opt->json;
        opt->running.quiet = &quiet;
        status = axe_tool_reshard_run(cx, r, &opt->running);
        *speaks = !quiet;
        return status;
    }
    if (opt->output) {
        AXE_TRY(axe_reshard_svg(cx, r, &picture));
        return axe_tool_write(cx, opt->output, picture.text, picture.len);
    }
    if (opt->draw)
        AXE_TRY(axe_reshard_draw(cx, r, &picture));
    if (opt->json)
        puts(axe_reshard_json(cx, r));
    else
        fputs(axe_reshard_text(cx, r), stdout);
    if (opt->draw)
        fputs(picture.text, stdout);
    return AXE_OK;
}

/* "24,24"; false: it is not that. */
static bool
read_shape(const char *text, options *opt)
{
    char *end;
    int   n = 0;

    do {
        if (n == MOST_EXTENTS)
            return false;
        opt->extent[n] = strtoll(text, &end, 10);
        if (end == text || opt->extent[n++] < 1)
            return false;
        text = end + 1;
    } while (*end == ',');
    opt->shape = (axe_shape){n, opt->extent};
    return *end == '\0';
}

int
axe_verb_reshard(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"mesh", required_argument, NULL, 'M'},
        {"format", required_argument, NULL, 'f'},
        {"shape", required_argument, NULL, 's'},
        {"bits", required_argument, NULL, 'b'},
        {"memory", required_argument, NULL, 'm'},
        {"no-latency", no_argument, NULL, 'n'},
        {"measured", no_argument, NULL, 'M' + 256},
        {"draw", no_argument, NULL, 'd'},
        {"output", required_argument, NULL, 'o'},
        {"json", no_argument, NULL, 'j'},
        {"run", no_argument, NULL, 'r'},
        {"engine", required_argument, NULL, 'e'},
        {"type", required_argument, NULL, 't'},
        {"timeout", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    options opt = {0};
    int     c;

    while ((c = getopt_long(argc, argv, "M:f:s:b:do:rh", long_options, NULL)) !=
           -1)
        switch (c) {
        case 'M':
            opt.mesh = optarg;
            break;
        case 'f':
            opt.format = optarg;
            break;
        case 's':
            if (!read_shape(optarg, &opt))
                return axe_tool_usage("reshard", "--shape is a list as 24,24");
            break;
        case 'b':
            opt.plan.bits = (int)axe_tool_number(optarg, 1 << 20);
            if (opt.plan.bits == 0)
                return axe_tool_usage(
                    "reshard", "--bits '%s' is no number of bits", optarg);
            break;
        case 'm':
            opt.plan.memory = axe_tool_number(optarg, (long long)1 << 60);
            if (opt.plan.memory == 0)
                return axe_tool_usage("reshard",
                                      "--memory '%s' is no number of elements",
                                      optarg);
            break;
        case 'M' + 256:
            opt.measured = true;
            break;
        case 'n':
            opt.plan.free = true;
            break;
        case 'd':
            opt.draw = true;
            break;
        case 'o':
            opt.output = optarg;
            break;
        case 'j':
            opt.json = true;
            break;
        case 'r':
            opt.run = true;
            break;
        case 'e':
            opt.running.engine = optarg;
            break;
        case 't':
            opt.running.type = optarg;
            break;
        case 'w':
            opt.running.timeout_ms = 1000 * axe_tool_number(optarg, 1 << 20);
            if (opt.running.timeout_ms == 0)
                return axe_tool_usage("reshard",
                                      "--timeout '%s' is no number of seconds",
                                      optarg);
            break;
        case 'h':
            fputs(help, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        default:
            return axe_tool_wrong(argv, long_options);
        }
    if (argc - optind != 2)
        return axe_tool_usage("reshard", "it takes two spreads, SRC and DST");
    if (!opt.mesh)
        return axe_tool_usage("reshard", "which devices? --mesh says it");
    if (!opt.format != !opt.shape.n)
        return axe_tool_usage("reshard", "--format and --shape go together");
    if (!opt.run && ((opt.running.engine && !opt.measured) ||
                     opt.running.type || opt.running.timeout_ms))
        return axe_tool_usage("reshard",
                              "--engine, --type and --timeout go with --run");
    if (opt.run && (opt.draw || opt.output))
        return axe_tool_usage("reshard", "--run draws nothing");
    if (opt.plan.bits == 0)
        opt.plan.bits = axe_tool_reshard_bits(opt.running.type);
    opt.spread = argv + optind;
    return axe_tool_do(show, &opt);
}
