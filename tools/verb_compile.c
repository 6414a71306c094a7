/* verb_compile.c - `axe compile`: a kernel as text of any stage, as a shared
 * object, or ahead of time as C, header, object and archive; nothing runs. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/gpu.h"
#include "kernel.h"
#include "run/array/file.h"
#include "run/program.h"

static const char verb[] = "compile";

/* What ahead of time makes, by the ends of file names. */
enum {
    AOT_C,
    AOT_H,
    AOT_O,
    AOT_A,
    AOT_CU,
    AOT_CUBIN,
    AOT_CL,
    AOT_SPV,
    AOT_PY,
    AOT_KINDS
};
static const char *const aot_end[] = {".c",     ".h",  ".o",   ".a", ".cu",
                                      ".cubin", ".cl", ".spv", ".py"};

typedef struct options {
    axe_kernel_args kernel;
    const char     *out, *cache;
    const char     *pass; /* of planning, to show the kernel after; or NULL */
    const char     *dialect;        /* of the text, or NULL */
    const char     *aot[AOT_KINDS]; /* files by kind, or NULL */
    const char     *twice;          /* the second of a kind */
    axe_stage       stage;
    bool            staged, object, wide, help;
} options;

static const char help[] =
    "usage: axe compile [OPTION]... FILE [KERNEL]\n"
    "\n"
    "Compiles a kernel and shows a stage of it, or makes files to link with a\n"
    "program of your own.  KERNEL may be left out where FILE has one; for such "
    "files\n"
    "it means all of them.\n"
    "\n"
    "  axe compile gemm.axe --emit plan\n"
    "  axe compile gemm.axe --target cpu-avx2 -o gemm.{h,a}\n"
    "  axe compile gemm.axe --target sm_90a -o gemm.{cu,cubin,c,h}\n"
    "  axe compile gemm.axe --target opencl-sg16 -o gemm.{cl,c,h}\n"
    "  axe compile gemm.axe --target trn1 -o gemm.py\n"
    "\n"
    "      --emit STAGE        ir, plan, lower, c (default) or so; what a "
    "pass of\n"
    "                          planning leaves, or another dialect "
    "of the text\n"
    "                          (axe help passes lists both)\n"
    "  -o, --output OUT        where to; '-' is standard output (default).  "
    "Without\n"
    "                          --emit, what ends in .c .h .o .a is for "
    "linking,\n"
    "                          and .cu .cubin are a GPU's code, .cl .spv a "
    "device's\n"
    "                          of OpenCL, .py a Trainium's (NKI); more such\n"
    "                          names may follow\n" AXE_KERNEL_HELP
    "      --wide              GPUs: indices of 64 bits, for sizes of 2^31 and "
    "more\n"
    "      --cache DIR         of compiled kernels\n"
    "  -h, --help              this text\n";

enum { OPT_EMIT = AXE_OPT_FREE, OPT_CACHE, OPT_WIDE };

static const struct option known[] = {
    AXE_KERNEL_OPTIONS,
    {"emit", required_argument, NULL, OPT_EMIT},
    {"output", required_argument, NULL, 'o'},
    {"wide", no_argument, NULL, OPT_WIDE},
    {"cache", required_argument, NULL, OPT_CACHE},
    {"help", no_argument, NULL, 'h'},
    {0}};

/* A name that ends in what ahead of time makes. */
static bool
take_aot(options *o, const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < AOT_KINDS; i++) {
        size_t end = strlen(aot_end[i]);
        if (n > end && strcmp(name + n - end, aot_end[i]) == 0) {
            o->twice = o->aot[i] ? name : o->twice;
            o->aot[i] = name;
            return true;
        }
    }
    return false;
}

static bool
is_named(bool (*named)(int i, const char **name, const char **text),
         const char *arg)
{
    const char *name;

    for (int i = 0; named(i, &name, NULL); i++)
        if (strcmp(arg, name) == 0)
            return true;
    return false;
}

static int
take_option(axe_ctx *cx, options *o, int c, const char *arg)
{
    if (c == 'h')
        o->help = true;
    else if (c == 'o') {
        if (!take_aot(o, arg))
            o->out = arg;
    } else if (c == OPT_CACHE)
        o->cache = arg;
    else if (c == OPT_WIDE)
        o->wide = true;
    else if (c == OPT_EMIT && strcmp(arg, "so") == 0)
        o->object = o->staged = true;
    else if (c == OPT_EMIT && is_named(axe_pass_named, arg)) {
        o->pass = arg;
        o->stage = AXE_STAGE_IR;
    } else if (c == OPT_EMIT && is_named(axe_dialect_named, arg)) {
        o->dialect = arg;
        o->stage = AXE_STAGE_LOWER;
    } else if (c == OPT_EMIT && !axe_stage_named(arg, &o->stage))
        return axe_tool_usage(verb,
                              "--emit %s: ir, plan, lower, c, so, or a pass "
                              "or dialect that `axe help passes` lists",
                              arg);
    o->staged = o->staged || c == OPT_EMIT;
    return axe_kernel_option(cx, &o->kernel, verb, c, arg);
}

/* Is the output one that can be meant? */
static int
check_outputs(const options *o)
{
    bool files = false;

    for (int i = 0; i < AOT_KINDS; i++)
        files = files || (o->aot[i] && !o->staged);
    if (o->twice)
        return axe_tool_usage(verb,
                              "'%s': an output of that kind is named "
                              "already",
                              o->twice);
    if (o->staged || strcmp(o->out, "-") == 0)
        return AXE_EXIT_OK;
    return axe_tool_usage(verb,
                          "'%s' %s .c, .h, .o, .a, .cu, .cubin, .cl, .spv or "
                          ".py; "
                          "with --emit any name will do",
                          o->out,
                          files ? "is named beside files for linking, but does "
                                  "not end in"
                                : "does not end in");
}

/* argv into o; AXE_EXIT_OK, or AXE_EXIT_USAGE after a message. */
static int
read_args(axe_ctx *cx, int argc, char **argv, options *o)
{
    int   c, code = AXE_EXIT_OK, n = 0;
    char *name[3];

    while ((c = getopt_long(argc, argv, "ho:t:", known, NULL)) != -1) {
        code = c == '?' ? axe_tool_wrong(argv, known)
                        : take_option(cx, o, c, optarg);
        if (code != AXE_EXIT_OK || o->help)
            return code;
    }
    for (int i = optind; i < argc && n < 3; i++)
        if (i == optind || !take_aot(o, argv[i]))
            name[n++] = argv[i];
    for (int i = 0; i < AOT_KINDS && o->staged; i++)
        o->out = o->aot[i] ? o->aot[i] : o->out;
    code = axe_kernel_names(&o->kernel, verb, n, name);
    return code == AXE_EXIT_OK ? check_outputs(o) : code;
}

/* Is the size of its indices asked for only where it can be chosen? */
static axe_status
check_wide(axe_ctx *cx, const options *o, const axe_program *p)
{
    axe_status st;

    if (!o->wide || o->stage == AXE_STAGE_IR || axe_program_on_gpu(p) ||
        axe_program_on_opencl(p))
        return AXE_OK;
    st = axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                  "--wide is for GPUs, and this is for a CPU");
    axe_help(cx, "leave it out: a CPU's indices have 64 bits; or give a GPU by "
                 "--target");
    return st;
}

/* Compile to a shared object, with all sides of a branch, and copy it out of
 * the cache. */
static axe_status
put_object(axe_ctx *cx, const options *o, const axe_program *p)
{
    axe_device_spec spec = {.n_thread = 1, .cache = o->cache};
    axe_device     *device;
    axe_program     whole = *p;
    axe_exec       *exec = NULL;
    axe_bytes       bytes = {0};
    axe_status      st;

    whole.side_text[0] = whole.side_text[1] = NULL;
    AXE_TRY(axe_device_new(cx, &spec, &device));
    st = axe_exec_new(cx, device, &whole, &exec);
    if (st == AXE_OK)
        st = axe_file_read(cx, axe_exec_path(exec), &bytes);
    if (st == AXE_OK)
        st = axe_tool_write(cx, o->out, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    axe_exec_free(exec);
    axe_device_free(device);
    return st;
}

/* ------------------------------------------------------------ ahead of time */

static bool
wants_aot(const options *o)
{
    for (int i = 0; i < AOT_KINDS; i++)
        if (o->aot[i] && !o->staged)
            return true;
    return false;
}

/* First what may fail for want of a compiler: else a header would be left that
 * tells of other functions than the archive beside it has. */
static axe_status
write_aot(axe_ctx *cx, const options *o, const axe_buf *c, const axe_buf *h)
{
    if (o->aot[AOT_O] || o->aot[AOT_A])
        AXE_TRY(axe_aot_build(cx, c->text, NULL, o->aot[AOT_O], o->aot[AOT_A]));
    if (o->aot[AOT_C])
        AXE_TRY(axe_tool_write(cx, o->aot[AOT_C], c->text, c->len));
    if (o->aot[AOT_H])
        return axe_tool_write(cx, o->aot[AOT_H], h->text, h->len);
    return AXE_OK;
}

static axe_status
write_cubin(axe_ctx *cx, const char *path, const axe_program *p)
{
    void      *code;
    size_t     bytes;
    axe_status st;

    AXE_TRY(axe_gpu_code(cx, p, NULL, &code, &bytes));
    st = axe_tool_write(cx, path, code, bytes);
    free(code);
    return st;
}

static axe_status
write_spirv(axe_ctx *cx, const char *path, const axe_program *p)
{
    size_t      bytes;
    const void *code = axe_program_spirv(p, &bytes);

    return axe_tool_write(cx, path, code, bytes);
}

/* A device's code by itself: its text, and what a compiler made of that. */
typedef struct device_code {
    const char *names, *whose; /* for people */
    int         text, code;    /* kinds of files */
    bool (*is_for)(const axe_program *p);
    axe_status (*write)(axe_ctx *cx, const char *path, const axe_program *p);
} device_code;

static const device_code device_codes[] = {
    {".cu and .cubin", "a GPU", AOT_CU, AOT_CUBIN, axe_program_on_gpu,
     write_cubin},
    {".cl and .spv", "a device of OpenCL", AOT_CL, AOT_SPV,
     axe_program_on_opencl, write_spirv},
    {".py files", "a Trainium", AOT_PY, AOT_PY, axe_program_on_trainium, NULL},
};

static axe_status
write_code(axe_ctx *cx, const options *o, const device_code *d, int n,
           const axe_program *const *p)
{
    axe_buf text = {.cx = cx};

    if (!o->aot[d->text] && !o->aot[d->code])
        return AXE_OK;
    if (n > 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s hold one kernel: name it", d->names);
    if (!d->is_for(p[0]))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s are for %s: give --target", d->names, d->whose);
    AXE_TRY(axe_program_emit(cx, p[0], AXE_STAGE_C, &text));
    if (o->aot[d->text])
        AXE_TRY(axe_tool_write(cx, o->aot[d->text], text.text, text.len));
    return d->write && o->aot[d->code] ? d->write(cx, o->aot[d->code], p[0])
                                       : AXE_OK;
}

static bool
wants_library(const options *o)
{
    return o->aot[AOT_C] || o->aot[AOT_H] || o->aot[AOT_O] || o->aot[AOT_A];
}

static axe_status
compile_all(axe_ctx *cx, const options *o, int32_t source, int n,
            const char *const *name, const axe_program **p)
{
    axe_compile_spec  spec = axe_kernel_spec(&o->kernel);
    const axe_module *m;

    AXE_TRY(axe_module_parse(cx, source, &m));
    spec.wide = o->wide;
    spec.spirv = o->aot[AOT_SPV] != NULL;
    for (int i = 0; i < n; i++) {
        spec.kernel = name[i];
        AXE_TRY(axe_compile_module(cx, m, &spec, AXE_STAGE_LOWER, &p[i]));
        AXE_TRY(check_wide(cx, o, p[i]));
        if (axe_program_on_gpu(p[i]) || axe_program_on_opencl(p[i]) ||
            axe_program_on_trainium(p[i]))
            AXE_TRY(axe_compile_module(cx, m, &spec, AXE_STAGE_C, &p[i]));
    }
    return AXE_OK;
}

static axe_status
put_aot(axe_ctx *cx, const options *o)
{
    const char        *path = o->aot[AOT_H] ? o->aot[AOT_H] : "kernels.h";
    const char        *base = strrchr(path, '/');
    axe_buf            c = {.cx = cx}, h = {.cx = cx};
    const char *const *name;
    int32_t            source;
    int                n;

    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_source_kernels(cx, source, &n, &name));
    if (o->kernel.kernel) {
        name = &o->kernel.kernel;
        n = 1;
    }
    const axe_program **p = axe_new_array(cx, const axe_program *, n + 1);
    AXE_TRY(compile_all(cx, o, source, n, name, p));
    for (int i = 0; i < AXE_LEN(device_codes); i++)
        AXE_TRY(write_code(cx, o, &device_codes[i], n, p));
    if (!wants_library(o))
        return AXE_OK;
    AXE_TRY(axe_programs_aot(cx, n, p, base ? base + 1 : path, &c, &h));
    return write_aot(cx, o, &c, &h);
}

static axe_status
put_stage(axe_ctx *cx, const options *o)
{
    axe_compile_spec   spec = axe_kernel_spec(&o->kernel);
    axe_buf            text = {.cx = cx};
    const axe_program *p;
    int32_t            source;

    spec.wide = o->wide;
    AXE_TRY(axe_tool_check_output(cx, o->out, o->kernel.file));
    for (int i = 0; i < AOT_KINDS; i++)
        AXE_TRY(axe_tool_check_output(cx, o->aot[i], o->kernel.file));
    if (wants_aot(o))
        return put_aot(cx, o);
    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_compile(cx, source, &spec, o->stage, &p));
    AXE_TRY(check_wide(cx, o, p));
    AXE_TRY(axe_kernel_strict(cx, &o->kernel));
    if (o->object)
        return put_object(cx, o, p);
    AXE_TRY(o->pass      ? axe_program_emit_pass(cx, p, o->pass, &text)
            : o->dialect ? axe_program_emit_dialect(cx, p, o->dialect, &text)
                         : axe_program_emit(cx, p, o->stage, &text));
    return axe_tool_write(cx, o->out, text.text, text.len);
}

int
axe_verb_compile(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {.out = "-", .stage = AXE_STAGE_C};
    int      code = read_args(cx, argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK &&
             (axe_kernel_device(cx, &o.kernel, false) != AXE_OK ||
              put_stage(cx, &o) != AXE_OK))
        code = AXE_EXIT_FAIL;
    return axe_kernel_end(cx, code);
}
