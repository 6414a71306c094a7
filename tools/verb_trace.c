/* verb_trace.c - `axe trace`: runs a program of a NeuronCore's engines. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "run/array/file.h"
#include "run/array/npy.h"
#include "sim/trn/trn.h"

static const char help[] =
    "usage: axe trace [OPTION]... FILE [NAME=ARRAY.npy]...\n"
    "\n"
    "Runs a program of a Trainium's engines, as docs/trace.md describes them:\n"
    "computes what it computes, reports what it breaks, and says how long it\n"
    "takes by a model of the engines.  Arrays that are `in` are read, those "
    "that\n"
    "are `out` or `kept` are written if they are named.\n"
    "\n"
    "  axe trace examples/trainium/gemm_tiled.trace --time --set K=1024\n"
    "  axe trace p.trace x=x.npy y=y.npy\n"
    "\n"
    "      --set NAME=VALUE    another value of a size\n"
    "  -t, --time              only how long it takes: no arrays\n"
    "      --profile NAME      numbers of the model: legacy (default), doc\n"
    "      --param NAME=VALUE  another value of one of them\n"
    "      --params            list them, with their sources\n"
    "      --timeline FILE     when engines do what: a picture (.svg), or "
    "trace\n"
    "                          events (.json)\n"
    "  -p, --print             print the program, run nothing\n"
    "  -u, --unroll            print what is executed, line by line, run "
    "nothing\n"
    "  -h, --help              this text\n";

enum {
    OPT_SET,
    OPT_PROFILE,
    OPT_PARAM,
    OPT_PARAMS,
    OPT_TIMELINE,
    MAX_SET = 64
};

typedef struct options {
    axe_trn_options trn;
    const char     *profile, *timeline, *set[MAX_SET], *param[MAX_SET];
    int             n_set, n_param;
    bool            print, unroll, params;
} options;

/* Of NAME=FILE arguments the one of that name; NULL: none. */
static const char *
given(char **text, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strncmp(text[i], name, strlen(name)) == 0 &&
            text[i][strlen(name)] == '=')
            return text[i] + strlen(name) + 1;
    return NULL;
}

static axe_status
check_given(axe_ctx *cx, const axe_trace *t, char **text, int n)
{
    for (int k = 0; k < n; k++) {
        bool known = false;
        for (int i = 0; i < t->n_tensor; i++)
            known |= t->tensor[i].memory == AXE_TRN_HBM &&
                     given(&text[k], 1, t->tensor[i].name);
        if (!known)
            return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                            "the trace %s has no array for '%s'", t->name,
                            text[k]);
    }
    return AXE_OK;
}

/* The array's elements, row-major, if it is as declared. */
static axe_status
read_array(axe_ctx *cx, const axe_trace *t, int tensor, const char *path,
           void **out)
{
    const axe_trace_tensor *x = &t->tensor[tensor];
    int64_t                 shape[AXE_TRACE_DIMS];
    axe_npy                 a;

    AXE_TRY(axe_trn_shape(cx, t, tensor, shape));
    AXE_TRY(axe_npy_read(cx, path, &a));
    bool same = a.rank == x->rank && !a.fortran &&
                (a.type == x->type ||
                 (x->type == AXE_TYPE_bf16 && a.type == AXE_TYPE_u16));
    for (int i = 0; same && i < a.rank; i++)
        same = a.shape[i] == shape[i];
    if (same) {
        *out = axe_alloc(cx, a.n_bytes);
        memcpy(*out, a.data, a.n_bytes);
    }
    axe_npy_free(&a);
    return same ? AXE_OK
                : axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                           "%s: its type, shape or order is not that of %s",
                           path, x->name);
}

static axe_status
write_array(axe_ctx *cx, const axe_trace *t, int tensor, const char *path,
            const void *data)
{
    const axe_trace_tensor *x = &t->tensor[tensor];
    int64_t                 shape[AXE_TRACE_DIMS];
    axe_npy                 a;

    AXE_TRY(axe_trn_shape(cx, t, tensor, shape));
    AXE_TRY(axe_npy_make(cx, x->name, x->type, (axe_shape){x->rank, shape},
                         false, &a));
    memcpy(a.data, data, a.n_bytes);
    axe_status st = axe_npy_write(cx, path, &a);
    axe_npy_free(&a);
    return st;
}

static axe_status
run(axe_ctx *cx, const axe_trace *t, const options *opt, char **text, int n)
{
    void         **data = axe_new_array(cx, void *, t->n_tensor);
    axe_trn_report report;
    axe_buf        b = {.cx = cx};

    AXE_TRY(check_given(cx, t, text, n));
    for (int i = 0; i < t->n_tensor && !opt->trn.time_only; i++) {
        const char *path = given(text, n, t->tensor[i].name);
        if (path && t->tensor[i].memory == AXE_TRN_HBM &&
            t->tensor[i].access == AXE_TRACE_IN)
            AXE_TRY(read_array(cx, t, i, path, &data[i]));
    }
    AXE_TRY(axe_trn_run(cx, t, &opt->trn, data, &report));
    for (int i = 0; i < t->n_tensor && !opt->trn.time_only; i++) {
        const char *path = given(text, n, t->tensor[i].name);
        if (path && t->tensor[i].memory == AXE_TRN_HBM &&
            t->tensor[i].access != AXE_TRACE_IN)
            AXE_TRY(write_array(cx, t, i, path, data[i]));
    }
    if (opt->timeline)
        AXE_TRY(axe_tool_picture(cx, opt->timeline, report.timeline));
    axe_putf(&b, "profile %s: ", opt->profile);
    axe_trn_put_report(&b, &report);
    fputs(b.text, stdout);
    return AXE_OK;
}

static axe_status
work(axe_ctx *cx, options *opt, char **text, int n)
{
    const axe_trace *t;
    axe_bytes        file;
    axe_buf          b = {.cx = cx};

    AXE_TRY(axe_trn_profile(cx, opt->profile, &opt->trn.params));
    for (int i = 0; i < opt->n_param; i++)
        AXE_TRY(axe_trn_set_param(cx, opt->param[i], &opt->trn.params));
    if (opt->params) {
        axe_trn_put_params(&b, &opt->trn.params);
        fputs(b.text, stdout);
        return AXE_OK;
    }
    AXE_TRY(axe_file_read(cx, text[0], &file));
    const char *bytes = axe_textf(cx, "%s", (const char *)file.data);
    free(file.data);
    AXE_TRY(axe_trace_read(
        cx, axe_source_add(cx, text[0], bytes, strlen(bytes)), bytes, &t));
    for (int i = 0; i < opt->n_set; i++)
        AXE_TRY(axe_trace_set(cx, t, opt->set[i]));
    if (opt->print) {
        fputs(axe_trace_text(cx, t), stdout);
        return AXE_OK;
    }
    if (opt->unroll) {
        axe_buf all = {.cx = cx};
        AXE_TRY(axe_trace_unroll(cx, t, &all));
        fputs(all.text, stdout);
        return AXE_OK;
    }
    return run(cx, t, opt, text + 1, n - 1);
}

/* Takes an option; false: there are too many of it, or none such. */
static bool
take(options *opt, int c)
{
    switch (c) {
    case OPT_SET:
        opt->set[opt->n_set++] = optarg;
        return opt->n_set < MAX_SET;
    case OPT_PARAM:
        opt->param[opt->n_param++] = optarg;
        return opt->n_param < MAX_SET;
    case OPT_PROFILE:
        opt->profile = optarg;
        return true;
    case OPT_TIMELINE:
        opt->timeline = optarg;
        opt->trn.timeline = true;
        return true;
    case OPT_PARAMS:
        opt->params = true;
        return true;
    case 't':
        opt->trn.time_only = true;
        return true;
    case 'p':
        opt->print = true;
        return true;
    case 'u':
        opt->unroll = true;
        return true;
    default:
        return false;
    }
}

int
axe_verb_trace(int argc, char **argv)
{
    static const struct option known[] = {
        {"set", required_argument, NULL, OPT_SET},
        {"time", no_argument, NULL, 't'},
        {"profile", required_argument, NULL, OPT_PROFILE},
        {"param", required_argument, NULL, OPT_PARAM},
        {"timeline", required_argument, NULL, OPT_TIMELINE},
        {"params", no_argument, NULL, OPT_PARAMS},
        {"print", no_argument, NULL, 'p'},
        {"unroll", no_argument, NULL, 'u'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    options opt = {.profile = "legacy"};
    int     c, code = AXE_EXIT_OK;

    while ((c = getopt_long(argc, argv, "tpuh", known, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        }
        if (!take(&opt, c))
            return axe_tool_wrong(argv, known);
    }
    if (argc == optind && !opt.params)
        return axe_tool_usage("trace", "it takes a file");
    if (opt.timeline &&
        axe_tool_check_picture("trace", opt.timeline) != AXE_EXIT_OK)
        return AXE_EXIT_USAGE;
    axe_ctx *cx = axe_ctx_new();
    if (!cx)
        return axe_tool_finish(AXE_EXIT_FAIL);
    if (work(cx, &opt, argv + optind, argc - optind) != AXE_OK)
        code = axe_tool_report(cx);
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}
