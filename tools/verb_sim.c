/* verb_sim.c - `axe sim`: runs a kernel for a GPU or a Trainium in the
 * simulator and says what is wrong with it.
 *
 * Each order of events starts from the same arrays; the first that finds
 * anything ends the run. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "machine/machine.h"
#include "run.h"
#include "run/program.h"

static const char verb[] = "sim";

#define KERNEL_HELP                                                            \
    AXE_KERNEL_HELP_FOR("sm_90a (default), sm_80, opencl-sg16, trn1, ...")

static const char help[] =
    "usage: axe sim [OPTION]... FILE [KERNEL] NAME=VALUE...\n"
    "\n"
    "Executes a kernel for a GPU on this machine, thread by thread, and\n"
    "reports races, missing waits and fences, reads of what nobody wrote,\n"
    "accesses out of bounds, deadlocks; one for a Trainium (trn1) instruction\n"
    "by instruction, and how long its engines take by two models of time.\n"
    "Arrays and sizes are given as for `axe run`.  Without a target it is for\n"
    "sm_90a.\n"
    "\n"
    "  axe sim kernels/gemm.axe --target sm_90a --random M=512 N=512 K=256 "
    "--check\n"
    "  axe sim kernels/gemm.axe --target trn1 --random M=512 N=512 K=256\n"
    "\n"
    "A kernel over a mesh runs on all of its devices, each with a memory of "
    "its\n"
    "own; what is between them as the steps of its protocol.\n"
    "\n"
    "      --random            make the arrays that are read and not given;\n"
    "                          X=normal(0,1), X=uniform(-1,1) and I=0..V make\n"
    "                          one so\n"
    "      --seed N            of --random, and the first order (default 1)\n"
    "      --check             compare with the reference; exit 1 if wrong\n"
    "      --policy ORDER      of what is asynchronous: lazy (default), "
    "eager,\n"
    "                          random (by the seed), or N: lazy, eager and N\n"
    "                          random orders.  Where blocks wait for one "
    "another:\n"
    "                          behind:K, cluster K runs only when no other "
    "can;\n"
    "                          ahead:K, it runs before any other; N has such\n"
    "                          orders, too.  GPUs only\n"
    "      --devices N         of a mesh with one axis of no given size\n"
    "      --sms N             blocks at a time of kernels that persist, or "
    "whose\n"
    "                          blocks wait for one another; GPUs only\n"
    "      --timeline FILE     when things happen, by a model of time: a "
    "picture\n"
    "                          (.svg), or trace events for Perfetto (.json)\n"
    "      --emit STAGE        print ir, plan, lower or c of what is run\n"
    "      --json              report as one line of JSON\n"
    "      --cache DIR         of the compiled reference\n" KERNEL_HELP
    "  -h, --help              this text\n";

enum { OPT_POLICY = AXE_RUN_FREE, OPT_SMS, OPT_TIMELINE, OPT_DEVICES };

static const struct option known[] = {
    AXE_KERNEL_OPTIONS,
    {"random", no_argument, NULL, AXE_RUN_RANDOM},
    {"seed", required_argument, NULL, AXE_RUN_SEED},
    {"check", no_argument, NULL, AXE_RUN_CHECK},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"sms", required_argument, NULL, OPT_SMS},
    {"timeline", required_argument, NULL, OPT_TIMELINE},
    {"emit", required_argument, NULL, AXE_RUN_EMIT},
    {"json", no_argument, NULL, AXE_RUN_JSON},
    {"cache", required_argument, NULL, AXE_RUN_CACHE},
    {"help", no_argument, NULL, 'h'},
    {0}};

enum { MAX_ORDERS = 10000, MAX_SMS = 1024, MAX_DEVICES = 64 };

static const char *const policy_name[] = {[AXE_SIM_LAZY] = "lazy",
                                          [AXE_SIM_EAGER] = "eager",
                                          [AXE_SIM_RANDOM] = "random"};

static const struct {
    const char    *name;
    axe_sim_policy policy;
    axe_sim_turns  turns;
} turns[] = {{"behind:", AXE_SIM_LAZY, AXE_SIM_BEHIND},
             {"ahead:", AXE_SIM_EAGER, AXE_SIM_AHEAD}};

static int
take_policy(axe_run_args *a, const char *arg)
{
    int64_t n;

    a->n_order = -1;
    a->sim.turns = AXE_SIM_EVEN;
    for (int i = 0; i < AXE_LEN(policy_name); i++)
        if (strcmp(arg, policy_name[i]) == 0) {
            a->sim.policy = (axe_sim_policy)i;
            return AXE_EXIT_OK;
        }
    for (int i = 0; i < AXE_LEN(turns); i++) {
        size_t len = strlen(turns[i].name);
        if (strncmp(arg, turns[i].name, len) != 0 ||
            !axe_tool_int(arg + len, &n) || n < -1)
            continue;
        a->sim.policy = turns[i].policy;
        a->sim.turns = turns[i].turns;
        a->sim.who = n;
        return AXE_EXIT_OK;
    }
    if (!axe_tool_int(arg, &n) || n < 0 || n > MAX_ORDERS)
        return axe_tool_usage(
            verb,
            "--policy %s: lazy, eager, random, behind:K or "
            "ahead:K of cluster K (-1: the last), or how many random "
            "orders, up to %d",
            arg, MAX_ORDERS);
    a->n_order = n;
    return AXE_EXIT_OK;
}

static int
take_timeline(axe_run_args *a, const char *arg)
{
    a->timeline = arg;
    a->sim.timeline = true;
    return axe_tool_check_picture(verb, arg);
}

static int
take_option(axe_ctx *cx, axe_run_args *a, int c, const char *arg)
{
    int64_t n = a->sim.n_sm;
    int     code;

    if (c == OPT_POLICY)
        return take_policy(a, arg);
    if (c == OPT_TIMELINE)
        return take_timeline(a, arg);
    if (c == OPT_DEVICES)
        return axe_run_number(verb, "devices", arg, 1, MAX_DEVICES,
                              &a->n_device);
    if (c != OPT_SMS)
        return axe_run_common(cx, verb, a, c, arg);
    code = axe_run_number(verb, "sms", arg, 1, MAX_SMS, &n);
    a->sim.n_sm = (int)n;
    return code;
}

/* ----------------------------------------------------------------- running */

/* What runs need beyond the arrays, and what they find. */
typedef struct orders {
    axe_sim_options     first, now;
    int64_t             n; /* random ones, behind others; -1: the first alone */
    int64_t             at; /* number of this one */
    int64_t             together;
    void              **saved; /* what the kernel writes, as it was */
    axe_sim_report      report;
    const axe_timeline *timeline; /* of the first order */
} orders;

static void
save(axe_ctx *cx, orders *o, const axe_run *r)
{
    o->saved = axe_new_array(cx, void *, r->n_param);
    for (int i = 0; i < r->n_param; i++)
        if ((r->param[i].access & AXE_WRITES) && r->param[i].npy.n_bytes > 0) {
            o->saved[i] = axe_alloc(cx, r->param[i].npy.n_bytes);
            memcpy(o->saved[i], r->param[i].npy.data, r->param[i].npy.n_bytes);
        }
}

static void
restore(const axe_run *r, void *const *saved)
{
    for (int i = 0; i < r->n_param; i++)
        if (saved[i])
            memcpy(r->param[i].npy.data, saved[i], r->param[i].npy.n_bytes);
}

static axe_status
run_in_order(axe_ctx *cx, void *user, int n, const axe_array *array,
             const axe_run *r)
{
    orders *o = user;

    if (!o->saved)
        save(cx, o, r);
    restore(r, o->saved);
    o->now.timeline = o->first.timeline && o->at == 0;
    AXE_TRY(axe_program_simulate(cx, r->program, n, array, r->n_size, r->size,
                                 &o->now, &o->report));
    o->together = o->report.n_together;
    o->timeline = o->at == 0 ? o->report.timeline : o->timeline;
    o->report.timeline = o->timeline;
    return AXE_OK;
}

static bool
has_order(void *user)
{
    orders *o = user;

    o->at++;
    return o->n >= 0 && o->report.n_finding == 0 &&
           axe_sim_order(&o->first, o->n, o->together, o->at, &o->now);
}

/* As --policy has it. */
static const char *
order_text(axe_ctx *cx, const axe_sim_options *o)
{
    for (int i = 0; i < AXE_LEN(turns); i++)
        if (o->turns == turns[i].turns)
            return axe_textf(cx, "%s%" PRId64, turns[i].name, o->who);
    return policy_name[o->policy];
}

/* Is the cluster there that is to run before or behind others? */
static axe_status
check_who(axe_ctx *cx, const orders *o)
{
    int64_t     n = o->report.n_together;
    const char *text;

    if (o->first.turns == AXE_SIM_EVEN || o->first.who < (n > 1 ? n : 1))
        return AXE_OK;
    text = order_text(cx, &o->first);
    return n > 1 ? axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "--policy %s: there are clusters 0 to %" PRId64,
                            text, n - 1)
                 : axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "--policy %s: no clusters wait for one another",
                            text);
}

/* Where neither the command line nor the kernel names a machine. */
static axe_status
choose_machine(axe_ctx *cx, const axe_run_args *a, int32_t source,
               axe_compile_spec *spec)
{
    const axe_module *m;
    axe_kernel_sig    sig;

    AXE_TRY(axe_module_parse(cx, source, &m));
    AXE_TRY(axe_module_sig(cx, m, a->kernel.kernel, &sig));
    if (!spec->machine && !sig.target)
        spec->machine = "sm_90a";
    return AXE_OK;
}

static axe_status
compile(axe_ctx *cx, const axe_run_args *a, int32_t source, axe_run *r)
{
    axe_compile_spec spec = axe_run_spec(cx, a, r);
    axe_array       *array = axe_new_array(cx, axe_array, r->n_param);
    axe_buf          text = {.cx = cx};
    int              n = axe_run_arrays(r, array);
    axe_stage        last =
        a->emit && a->stage > AXE_STAGE_LOWER ? a->stage : AXE_STAGE_LOWER;

    spec.no_tuned = true;
    AXE_TRY(choose_machine(cx, a, source, &spec));
    AXE_TRY(axe_compile_for(cx, source, &spec, n, array, last, &r->program));
    AXE_TRY(axe_kernel_strict(cx, &a->kernel));
    if (!a->emit)
        return AXE_OK;
    AXE_TRY(axe_program_emit(cx, r->program, a->stage, &text));
    return axe_tool_write(cx, "-", text.text, text.len);
}

/* How many devices there are, where there is a mesh. */
static axe_status
check_devices(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    const axe_kernel *k = r->program->kernel;

    if (r->program->meshed && a->sim.n_sm > 0 &&
        axe_language_of(r->program->machine)->here)
        return axe_fail(cx, k->at, AXE_EARG,
                        "--sms is for GPUs, and this is for a mesh of CPUs");
    if (r->program->meshed)
        return axe_run_count_devices(cx, a, r);
    if (a->n_device == 0)
        return AXE_OK;
    return axe_fail(cx, k->at, AXE_EARG,
                    "kernel %s is for one device: it names no mesh, and "
                    "--devices is for one that does",
                    k->name);
}

static void
print(axe_ctx *cx, const axe_run_args *a, const axe_run *r,
      const axe_sim_report *found)
{
    axe_buf b = {.cx = cx};

    if (a->json) {
        axe_sim_report_json(cx, &b, found);
        axe_run_print_json_with(cx, r, b.text + 1);
        return;
    }
    axe_run_print(cx, r);
    axe_sim_report_print(cx, &b, found);
    fwrite(b.text, 1, b.len, stdout);
}

static axe_status
run(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    orders     o = {.first = a->sim, .n = a->n_order};
    axe_runner by = {&o, run_in_order, NULL, has_order};
    int32_t    source;

    o.first.seed = (uint64_t)a->seed;
    o.now = o.first;
    if (o.n >= 0)
        (void)axe_sim_order(&o.first, o.n, 0, 0, &o.now);
    AXE_TRY(axe_kernel_source(cx, a->kernel.file, &source));
    AXE_TRY(axe_run_open(cx, a, source, r));
    AXE_TRY(compile(cx, a, source, r));
    AXE_TRY(check_devices(cx, a, r));
    AXE_TRY(axe_run_fill(cx, a, r));
    r->n_thread = 1;
    r->on = "the simulator";
    AXE_TRY(axe_run_by(cx, a, NULL, &by, r));
    AXE_TRY(check_who(cx, &o));
    if (a->timeline && o.report.timeline)
        AXE_TRY(axe_tool_picture(cx, a->timeline, o.report.timeline));
    print(cx, a, r, &o.report);
    if (o.report.n_finding > 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "the simulator found %d things wrong",
                        o.report.n_finding);
    if (axe_run_passed(r))
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                    "the kernel's result is not what its text means; nothing "
                    "was written (order %" PRId64 " of events: %s)",
                    o.at + 1, order_text(cx, &o.now));
}

int
axe_verb_sim(int argc, char **argv)
{
    axe_ctx     *cx = axe_ctx_new();
    axe_run_args a = {.seed = 1, .n_order = -1};
    axe_run      r = {0};
    int          code;

    code = axe_run_read(cx, verb, argc, argv, known, take_option, &a);
    a.sim.cache = a.cache;
    if (code == AXE_EXIT_OK && a.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK &&
             (axe_kernel_device(cx, &a.kernel, false) != AXE_OK ||
              run(cx, &a, &r) != AXE_OK))
        code = AXE_EXIT_FAIL;
    axe_run_close(&r);
    return axe_kernel_end(cx, code);
}
