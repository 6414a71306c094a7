/* main.c - the `axe` command: finds the verb in verbs.def and hands over. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "axe.h"
#include "axe/compile.h"
#include "machine/machine.h"
#include "run/cache/cache.h"

static const struct verb {
    const char *name, *args, *what;
    int (*run)(int argc, char **argv);
    char *title; /* argv[0] of the verb */
} verbs[] = {
#define VERB(name, args, what)                                                 \
    {#name, args, what, axe_verb_##name, (char[]){"axe " #name}},
#include "verbs.def"
};

static const char *const verb_names[] = {
#define VERB(name, args, what) #name,
#include "verbs.def"
};

static int
help(void)
{
    printf("axe: layouts, kernels and their compiler\n\n"
           "usage: axe VERB [ARGUMENT]...\n\nverbs:\n");
    for (int i = 0; i < AXE_LEN(verbs); i++)
        printf("  %-9s%-28s%s\n", verbs[i].name, verbs[i].args, verbs[i].what);
    printf("\n'axe VERB --help' explains a verb; 'axe --version' says which "
           "axe this is;\n'axe help targets' lists the machines, 'axe help "
           "passes' what planning does to a kernel.\n"
           "exit codes: 0 done, 1 the work failed, 2 wrong command line\n");
    return axe_tool_finish(AXE_EXIT_OK);
}

static int
unknown(const char *name)
{
    const char *near = axe_nearest(name, AXE_LEN(verb_names), verb_names);

    axe_ctx *cx = axe_ctx_new();

    fprintf(stderr, "axe: there is no verb '%s'\n",
            cx ? axe_text_plain(cx, name) : "?");
    axe_ctx_free(cx);
    if (near)
        fprintf(stderr, "  help: did you mean '%s'?\n", near);
    else
        fprintf(stderr, "  help: 'axe --help' lists the verbs\n");
    return AXE_EXIT_USAGE;
}

/* The machines that kernels are compiled for. */
static int
help_targets(void)
{
    const axe_machine *m;

    printf("machines, for --target and for `target NAME` in a kernel:\n\n"
           "  %-17s%-10s%s\n",
           "name", "family", "runs");
    printf("  %-17s%-10s%s\n", "cpu", "cpu",
           "here: the best of these that does");
    for (int i = 0; i < axe_n_machine(); i++) {
        m = axe_machine_at(i);
        printf("  %-17s%-10s%s\n", m->name, m->family,
               axe_machine_runs_here(m) ? "here" : axe_language_of(m)->where);
    }
    return axe_tool_finish(AXE_EXIT_OK);
}

static int
help_passes(void)
{
    const char *name, *text;

    printf("passes of planning, for `axe compile --emit NAME`, in order:\n\n");
    for (int i = 0; axe_pass_named(i, &name, &text); i++)
        printf("  %-13s%s\n", name, text);
    printf("\nMost are for some machines alone; --emit says for which not.\n"
           "\ndialects of the text, for the same:\n\n");
    for (int i = 0; axe_dialect_named(i, &name, &text); i++)
        printf("  %-13s%s\n", name, text);
    return axe_tool_finish(AXE_EXIT_OK);
}

/* `axe help VERB` is `axe VERB --help`. */
static int
help_on(const char *name)
{
    char *args[3] = {NULL, (char[]){"--help"}, NULL};

    if (strcmp(name, "targets") == 0)
        return help_targets();
    if (strcmp(name, "passes") == 0)
        return help_passes();
    for (int i = 0; i < AXE_LEN(verbs); i++)
        if (strcmp(name, verbs[i].name) == 0) {
            args[0] = verbs[i].title;
            return verbs[i].run(2, args);
        }
    return unknown(name);
}

/* Ended by a signal, the command leaves nothing behind in /tmp.  NVRTC puts
 * handlers of its own in front, which call this one again and again. */
static void
on_end(int sig)
{
    axe_cache_abandon();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void
handle_ends(void)
{
    static const int sig[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act = {.sa_handler = on_end}, old;

    for (int i = 0; i < AXE_LEN(sig); i++)
        if (sigaction(sig[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(sig[i], &act, NULL);
}

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;

    handle_ends();
    if (!name)
        return axe_tool_usage(NULL, "a verb is missing");
    if (strcmp(name, "help") == 0 && argc > 2)
        return help_on(argv[2]);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        strcmp(name, "help") == 0)
        return help();
    if (strcmp(name, "--version") == 0) {
        printf("axe %s\n", AXE_VERSION);
        return axe_tool_finish(AXE_EXIT_OK);
    }
    for (int i = 0; i < AXE_LEN(verbs); i++)
        if (strcmp(name, verbs[i].name) == 0) {
            argv[1] = verbs[i].title;
            return verbs[i].run(argc - 1, argv + 1);
        }
    return unknown(name);
}
