/* verb_pack.c - `axe pack`: a matrix as a kernel's machine reads it best. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "run/array/axt.h"

static const char verb[] = "pack";

static const char help[] =
    "usage: axe pack [OPTION]... FILE [KERNEL] PARAMETER=FILE.npy -o OUT.axt\n"
    "\n"
    "Lays a matrix, or one for each value of dimensions around it, out as the\n"
    "kernel reads it best on its machine, once, so that no launch has to:\n"
    "weights.  `axe run` takes the file as the parameter's array.\n"
    "\n"
    "  axe pack kernels/linear.axe W=w.npy -o w.axt\n"
    "  axe run kernels/linear.axe X=x.npy W=w.axt Y=y.npy\n"
    "\n"
    "  -o, --output OUT.axt    where to\n" AXE_KERNEL_HELP
    "  -h, --help              this text\n";

static const struct option known[] = {AXE_KERNEL_OPTIONS,
                                      {"output", required_argument, NULL, 'o'},
                                      {"help", no_argument, NULL, 'h'},
                                      {0}};

typedef struct options {
    axe_kernel_args kernel;
    axe_pairs       given;
    const char     *output;
    bool            help;
} options;

static int
read_args(axe_ctx *cx, int argc, char **argv, options *o)
{
    int   c, code = AXE_EXIT_OK, n = 0;
    char *name[3];

    while ((c = getopt_long(argc, argv, "ht:o:", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_wrong(argv, known);
        if (c == 'o')
            o->output = optarg;
        else if (c == 'h')
            o->help = true;
        else
            code = axe_kernel_option(cx, &o->kernel, verb, c, optarg);
        if (code != AXE_EXIT_OK || o->help)
            return code;
    }
    for (int i = optind; i < argc; i++) {
        if (n < 3 && !strchr(argv[i], '='))
            name[n++] = argv[i];
        else if (!axe_pairs_add(cx, &o->given, argv[i]))
            return axe_tool_usage(verb, "'%s': NAME=VALUE is needed", argv[i]);
    }
    if (o->given.n != 1)
        return axe_tool_usage(verb, "one PARAMETER=FILE.npy is needed");
    if (!o->output || !axe_axt_is(o->output))
        return axe_tool_usage(verb, "-o OUT.axt is needed");
    return axe_kernel_names(&o->kernel, verb, n, name);
}

static axe_status
write_packed(axe_ctx *cx, const options *o, const axe_program *p,
             const axe_array *a)
{
    axe_packed packed;
    axe_status st;
    void      *to;

    AXE_TRY(axe_packed_of(cx, p, a->name, a->shape, &packed));
    to = malloc(packed.bytes + 1);
    if (!to)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for %zu bytes",
                        packed.bytes);
    st = axe_matrix_pack(cx, p, a, to);
    if (st == AXE_OK)
        st = axe_axt_write(cx, o->output, a->rank, a->shape, &packed, to);
    free(to);
    return st;
}

static axe_status
pack(axe_ctx *cx, const options *o, axe_npy *npy)
{
    axe_compile_spec   spec = axe_kernel_spec(&o->kernel);
    const char        *name = o->given.name[0], *order = "packed";
    const axe_program *p;
    int32_t            source;

    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_npy_read(cx, o->given.value[0], npy));
    spec.n_order = 1;
    spec.order_name = &name;
    spec.order = &order;
    AXE_TRY(axe_compile(cx, source, &spec, AXE_STAGE_PLAN, &p));
    for (int i = 0; i < axe_program_n_param(p); i++) {
        if (strcmp(axe_program_param(p, i).name, name) != 0)
            continue;
        if (npy->rank != axe_program_param(p, i).rank)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s has %d dimensions, %s %d", o->given.value[0],
                            npy->rank, name, axe_program_param(p, i).rank);
        if (strcmp(axe_program_param(p, i).type, "bf16") == 0 &&
            npy->type == AXE_TYPE_u16)
            npy->type = AXE_TYPE_bf16;
    }
    return write_packed(cx, o, p,
                        &(axe_array){.name = name,
                                     .type = axe_type_table[npy->type].name,
                                     .rank = npy->rank,
                                     .shape = npy->shape,
                                     .stride = npy->stride,
                                     .data = npy->data});
}

int
axe_verb_pack(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {0};
    axe_npy  npy = {0};
    int      code = read_args(cx, argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK && pack(cx, &o, &npy) != AXE_OK)
        code = AXE_EXIT_FAIL;
    axe_npy_free(&npy);
    return axe_kernel_end(cx, code);
}
