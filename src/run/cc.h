/* cc.h - the system's C compiler as a service: C text to a shared object. */
#ifndef AXE_RUN_CC_H
#define AXE_RUN_CC_H

#include "axe/base.h"

/* A compiler that was found. */
typedef struct axe_cc {
    const char *path; /* of the executable, links resolved */
    const char *id;   /* path, size and time of change: another compiler or
                         version has another id */
    int                n_flag, n_own; /* all; our own, which come first */
    const char *const *flag;          /* before the file names */
} axe_cc;

/* Find a compiler: `wanted`, else $AXE_CC, else $CC, else the first of gcc,
 * clang, cc on $PATH.  A name may be followed by flags of its own, separated
 * by blanks; there is no quoting, as no shell is involved.
 * wanted  NULL: nothing in particular
 * Errors  ETOOL: there is none; the help says what to install. */
AXE_CHECK axe_status axe_cc_find(axe_ctx *cx, const char *wanted, axe_cc *out);

/* Compile the file `source` to a shared object `out`.
 * extra   one more flag, "-lm" or "-fwrapv", or NULL
 * Errors  ETOOL: the compiler cannot be run, fails or crashes; its first lines
 *         of output are notes.  `out` may then exist or not. */
AXE_CHECK axe_status axe_cc_compile(axe_ctx *cx, const axe_cc *cc,
                                    const char *source, const char *extra,
                                    const char *out);

/* The same in two steps, so that several compilers run side by side.  A job
 * that was started must be waited for once; its output is at most a few
 * kilobytes, which a pipe holds. */
typedef struct axe_cc_job {
    const char *path;
    const char *out; /* what it is to write; NULL: nobody asks */
    int         pid, fd;
} axe_cc_job;
AXE_CHECK axe_status axe_cc_start(axe_ctx *cx, const axe_cc *cc,
                                  const char *source, const char *extra,
                                  const char *out, axe_cc_job *job);
AXE_CHECK axe_status axe_cc_wait(axe_ctx *cx, axe_cc_job *job);

/* Compile to an object that any program may link, without what this host's
 * processor alone has: the text says what it needs. */
AXE_CHECK axe_status axe_cc_object(axe_ctx *cx, const axe_cc *cc,
                                   const char *source, const char *out);
/* A command: its file, NULL if there is none; run with nothing to read.
 * argv    ends in NULL
 * Errors  ETOOL: as axe_cc_compile */
const char          *axe_command_find(axe_ctx *cx, const char *name);
AXE_CHECK axe_status axe_command_run(axe_ctx *cx, const char *const *argv);
/* Put it into an archive that must not exist.  ETOOL: there is no ar. */
AXE_CHECK axe_status axe_cc_archive(axe_ctx *cx, const char *object,
                                    const char *out);

#endif
