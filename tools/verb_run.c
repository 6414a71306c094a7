/* verb_run.c - `axe run`: compiles a kernel for the arrays given, runs it,
 * checks it against the reference, writes the results, times it.
 *
 * Results are written after the check and before the timing, so that a wrong
 * result never reaches a file and repetitions change none. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "run.h"
#include "run/program.h"

enum { MAX_TIME = 1000, MIN_TIME = 5, N_WARM = 2, MOST_DEVICES = 1024 };
#define TIME_BUDGET 0.5 /* seconds, where --time has no number */

static const char verb[] = "run";

static const char help[] =
    "usage: axe run [OPTION]... FILE [KERNEL] NAME=VALUE...\n"
    "\n"
    "Runs a kernel on this machine's CPU, or with --target sm_80, sm_90a or\n"
    "sm_100a on its GPU, with opencl or opencl-sgN on a device of OpenCL.\n"
    "NAME=FILE.npy gives a parameter's array: read if "
    "the\n"
    "kernel reads it, written if it writes it.  NAME=NUMBER gives a size that\n"
    "follows from no array.\n"
    "\n"
    "  axe run kernels/gemm.axe A=a.npy B=b.npy C=c.npy\n"
    "  axe run kernels/gemm.axe --random M=300 N=200 K=100 --check --time\n"
    "\n"
    "      --random            make the arrays that are read and not given;\n"
    "                          X=normal(0,1), X=uniform(-1,1) and I=0..V make\n"
    "                          one so\n"
    "      --seed N            of --random (default 1)\n"
    "      --save-random DIR   keep them as DIR/NAME.npy\n"
    "      --check             compare with the reference; exit 1 if wrong\n"
    "      --time[=N]          time N runs (default: half a second's worth)\n"
    "      --threads N         0 (default): one for each processor\n"
    "      --emit STAGE        print ir, plan, lower or c of what is run\n"
    "      --json              report as one line of JSON\n"
    "      --cache DIR         of compiled kernels\n"
    "      --no-tuned          take no values from `axe tune`\n"
    "      --wide              GPUs: indices of 64 bits for all sizes\n"
    "      --records FILE      where it has kept them\n"
    "      --devices N         a kernel over a mesh: on N processes that are\n"
    "                          its devices, by a GPU each if that is the\n"
    "                          target (default: as its axes' sizes, or "
    "mpirun,\n"
    "                          torchrun or srun, say)\n"
    "      --engine E          by shm (one host), openmpi or mpich\n"
    "      --no-overlap        what goes between devices waits for what they\n"
    "                          compute, and they for it: to compare\n"
    "      --timeout S         seconds that one waits for another "
    "(30)\n" AXE_KERNEL_HELP "  -h, --help              this text\n";

enum {
    OPT_SAVE = AXE_RUN_FREE,
    OPT_TIME,
    OPT_NO_TUNED,
    OPT_WIDE,
    OPT_DEVICES,
    OPT_ENGINE,
    OPT_NO_OVERLAP,
    OPT_TIMEOUT
};

static const struct option known[] = {
    AXE_KERNEL_OPTIONS,
    {"random", no_argument, NULL, AXE_RUN_RANDOM},
    {"seed", required_argument, NULL, AXE_RUN_SEED},
    {"save-random", required_argument, NULL, OPT_SAVE},
    {"check", no_argument, NULL, AXE_RUN_CHECK},
    {"time", optional_argument, NULL, OPT_TIME},
    {"threads", required_argument, NULL, AXE_RUN_THREADS},
    {"emit", required_argument, NULL, AXE_RUN_EMIT},
    {"json", no_argument, NULL, AXE_RUN_JSON},
    {"cache", required_argument, NULL, AXE_RUN_CACHE},
    {"no-tuned", no_argument, NULL, OPT_NO_TUNED},
    {"wide", no_argument, NULL, OPT_WIDE},
    {"records", required_argument, NULL, AXE_RUN_RECORDS},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"no-overlap", no_argument, NULL, OPT_NO_OVERLAP},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"help", no_argument, NULL, 'h'},
    {0}};

static int
take_option(axe_ctx *cx, axe_run_args *a, int c, const char *arg)
{
    int code;

    switch (c) {
    case OPT_TIME:
        a->time = true;
        return arg ? axe_run_number(verb, "time", arg, 1, MAX_TIME, &a->n_time)
                   : AXE_EXIT_OK;
    case OPT_SAVE:
        a->save_random = arg;
        return AXE_EXIT_OK;
    case OPT_NO_TUNED:
        a->no_tuned = true;
        return AXE_EXIT_OK;
    case OPT_WIDE:
        a->wide = true;
        return AXE_EXIT_OK;
    case OPT_DEVICES:
        return axe_run_number(verb, "devices", arg, 1, MOST_DEVICES,
                              &a->n_device);
    case OPT_ENGINE:
        a->engine = arg;
        return AXE_EXIT_OK;
    case OPT_NO_OVERLAP:
        a->no_overlap = true;
        return AXE_EXIT_OK;
    case OPT_TIMEOUT:
        code = axe_run_number(verb, "timeout", arg, 1, 1 << 20, &a->timeout_ms);
        a->timeout_ms *= 1000;
        return code;
    default:
        return axe_run_common(cx, verb, a, c, arg);
    }
}

/* ----------------------------------------------------------------- running */

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static axe_status
run_on_cpu(axe_ctx *cx, void *exec, int n, const axe_array *array,
           const axe_run *r)
{
    return axe_launch(cx, exec, n, array, r->n_size, r->size);
}

static axe_status
time_on_cpu(axe_ctx *cx, void *exec, const axe_run_args *a, int n,
            const axe_array *array, axe_run *r)
{
    double    begin, start;
    axe_exec *e = exec;

    r->time = axe_new_array(cx, double, MAX_TIME);
    for (int i = 0; i < N_WARM; i++)
        AXE_TRY(axe_launch(cx, e, n, array, r->n_size, r->size));
    begin = now();
    for (int i = 0; i < MAX_TIME; i++) {
        if (a->n_time > 0 ? i == a->n_time
                          : i >= MIN_TIME && now() - begin > TIME_BUDGET)
            break;
        start = now();
        AXE_TRY(axe_launch(cx, e, n, array, r->n_size, r->size));
        r->time[r->n_time++] = now() - start;
    }
    return AXE_OK;
}

/* All sizes, for the report and the rates. */
static axe_status
settle_sizes(axe_ctx *cx, int n, const axe_array *array, axe_run *r)
{
    const axe_kernel *k = r->program->kernel;
    axe_size         *size = axe_new_array(cx, axe_size, k->n_size);
    axe_bound         b;

    AXE_TRY(axe_bind(cx, k, n, array, r->n_size, r->size, true, &b));
    r->n_size = 0;
    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            size[r->n_size++] = (axe_size){k->size[i]->name, b.size[i]};
    r->size = size;
    return axe_program_work(cx, r->program, n, array, r->n_size, size,
                            &r->work);
}

static axe_status
compare(axe_ctx *cx, const axe_reference *ref, const axe_array *array,
        axe_run *r)
{
    if (!r->check)
        r->check = axe_new_array(cx, axe_difference, r->n_param);
    for (int i = 0; i < r->n_param; i++)
        if (r->param[i].access & AXE_WRITES)
            AXE_TRY(axe_reference_compare(cx, ref, &array[i], &r->check[i]));
    return AXE_OK;
}

static axe_status
launch(axe_ctx *cx, const axe_run_args *a, axe_device *d, const axe_runner *by,
       axe_run *r)
{
    axe_array     *array = axe_new_array(cx, axe_array, r->n_param);
    axe_reference *ref = NULL;
    int            n = axe_run_arrays(r, array);
    axe_status     st;

    AXE_TRY(settle_sizes(cx, n, array, r));
    if (a->check)
        AXE_TRY(axe_reference_new(cx, d, r->program, n, array, r->n_size,
                                  r->size, &ref));
    do {
        st = by->run(cx, by->user, n, array, r);
        if (st == AXE_OK && ref)
            st = compare(cx, ref, array, r);
    } while (st == AXE_OK && axe_run_passed(r) && by->again &&
             by->again(by->user));
    axe_reference_free(ref);
    if (st == AXE_OK && axe_run_passed(r))
        st = axe_run_save(cx, r);
    if (st == AXE_OK && a->time)
        st = by->time(cx, by->user, a, n, array, r);
    if (r->n_time > 0)
        qsort(r->time, (size_t)r->n_time, sizeof r->time[0], by_value);
    return st;
}

axe_status
axe_run_by(axe_ctx *cx, const axe_run_args *a, axe_device *device,
           const axe_runner *by, axe_run *r)
{
    axe_device_spec spec = {.n_thread = 1, .cache = a->cache};
    axe_device     *own = NULL;
    axe_status      st;

    if (!device && a->check) {
        AXE_TRY(axe_device_new(cx, &spec, &own));
        device = own;
    }
    st = launch(cx, a, device, by, r);
    axe_device_free(own);
    return st;
}

axe_status
axe_run_on_cpu(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_device_spec spec = {.n_thread = a->n_thread, .cache = a->cache};
    axe_device     *device;
    axe_exec       *exec = NULL;
    axe_status      st;

    AXE_TRY(axe_device_new(cx, &spec, &device));
    r->n_thread = axe_device_n_thread(device);
    r->on = axe_textf(cx, "cpu, %d thread%s", r->n_thread,
                      r->n_thread == 1 ? "" : "s");
    st = axe_exec_new(cx, device, r->program, &exec);
    if (st == AXE_OK) {
        axe_runner by = {exec, run_on_cpu, time_on_cpu, NULL};
        r->cached = axe_exec_cached(exec);
        st = axe_run_by(cx, a, device, &by, r);
    }
    axe_exec_free(exec);
    axe_device_free(device);
    return st;
}

static axe_status
fail_on_trainium(axe_ctx *cx, const axe_run *r)
{
    axe_status st =
        axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "`axe run` launches nothing on a Trainium, which %s is for",
                 r->program->kernel->name);

    axe_help(cx, "`axe sim` executes it here; `axe compile -o NAME.py` writes "
                 "it as NKI");
    return st;
}

axe_status
axe_run_there(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    if (axe_program_on_trainium(r->program))
        return fail_on_trainium(cx, r);
    return r->program->meshed                  ? axe_run_on_devices(cx, a, r)
           : axe_program_on_gpu(r->program)    ? axe_run_on_gpu(cx, a, r)
           : axe_program_on_opencl(r->program) ? axe_run_on_opencl(cx, a, r)
                                               : axe_run_on_cpu(cx, a, r);
}

static axe_status
compile(axe_ctx *cx, const axe_run_args *a, int32_t source, axe_run *r)
{
    axe_compile_spec spec = axe_run_spec(cx, a, r);
    axe_array       *array = axe_new_array(cx, axe_array, r->n_param);
    axe_buf          text = {.cx = cx};
    int              n = axe_run_arrays(r, array);

    AXE_TRY(
        axe_compile_for(cx, source, &spec, n, array, AXE_STAGE_C, &r->program));
    AXE_TRY(axe_kernel_strict(cx, &a->kernel));
    if (!a->emit)
        return AXE_OK;
    AXE_TRY(axe_program_emit(cx, r->program, a->stage, &text));
    return axe_tool_write(cx, "-", text.text, text.len);
}

/* What is said of devices, where there are some. */
static axe_status
on_devices(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    if (r->program->meshed)
        return axe_run_count_devices(cx, a, r);
    if (a->n_device > 1 || a->engine || a->timeout_ms || a->no_overlap)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "kernel %s is for one device: it names no mesh, and "
                        "--devices, --engine, --no-overlap and --timeout are "
                        "for one that does",
                        r->program->kernel->name);
    return AXE_OK;
}

static axe_status
run(axe_ctx *cx, axe_run_args *a, axe_run *r)
{
    int32_t source;

    AXE_TRY(axe_kernel_device(cx, &a->kernel, true));
    AXE_TRY(axe_kernel_source(cx, a->kernel.file, &source));
    AXE_TRY(axe_run_open(cx, a, source, r));
    AXE_TRY(compile(cx, a, source, r));
    AXE_TRY(on_devices(cx, a, r));
    AXE_TRY(axe_run_fill(cx, a, r));
    AXE_TRY(axe_run_there(cx, a, r));
    if (r->silent)
        return AXE_OK;
    if (a->json)
        axe_run_print_json(cx, r);
    else
        axe_run_print(cx, r);
    if (axe_run_passed(r))
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                    "the kernel's result is not what its text means; nothing "
                    "was written");
}

int
axe_verb_run(int argc, char **argv)
{
    axe_ctx     *cx = axe_ctx_new();
    axe_run_args a = {.seed = 1};
    axe_run      r = {0};
    int code = axe_run_read(cx, verb, argc, argv, known, take_option, &a);

    if (code == AXE_EXIT_OK && a.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK && run(cx, &a, &r) != AXE_OK)
        code = AXE_EXIT_FAIL;
    axe_run_close(&r);
    if (!r.silent)
        return axe_kernel_end(cx, code);
    axe_ctx_free(cx);
    return code == AXE_EXIT_OK ? axe_tool_finish(code) : code;
}
