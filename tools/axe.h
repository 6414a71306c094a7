/* axe.h - what the verbs of the `axe` command share.
 *
 * A verb is `int axe_verb_NAME(int argc, char **argv)`, named in verbs.def.  It
 * reads its options with getopt_long (argv[0] is "axe NAME", so that messages
 * say who speaks), answers --help on standard output, and returns one of the
 * exit codes below.  Diagnostics go to standard error, results to standard
 * output, and nothing but results goes there.
 */
#ifndef AXE_TOOL_H
#define AXE_TOOL_H

#include "axe/base.h"
#include "axe/layout.h"

enum {
    AXE_EXIT_OK,   /* the work is done */
    AXE_EXIT_FAIL, /* the work failed; a diagnostic says why */
    AXE_EXIT_USAGE /* the command line is wrong */
};

#define VERB(name, args, what) int axe_verb_##name(int argc, char **argv);
#include "verbs.def"

/* Is colour wanted on this file descriptor?  Only on a terminal, and never
 * when NO_COLOR is set or TERM is "dumb". */
bool axe_tool_color(int fd);

/* Letters in a line of the terminal that standard output is; no limit (2^20)
 * where it is none. */
int axe_tool_width(void);

/* Print all diagnostics of cx on standard error.  Returns
 * AXE_EXIT_FAIL, so that verbs write `return axe_tool_report(cx);`. */
int axe_tool_report(axe_ctx *cx);

/* "axe layout: <text>", then where help is, on standard error.  Returns
 * AXE_EXIT_USAGE. */
int axe_tool_usage(const char *verb, const char *fmt, ...) AXE_PRINTF(2, 3);

/* Of an option that getopt_long does not know (it has said so): the option that
 * may have been meant, else where help is.  argv[0] is "axe VERB". Returns
 * AXE_EXIT_USAGE. */
struct option;
int axe_tool_wrong(char *const *argv, const struct option *known);

/* Write n bytes to a file as a whole, so that a failure leaves no partial file;
 * "-" is standard output.  EIO, with the system's own words. */
AXE_CHECK axe_status axe_tool_write(axe_ctx *cx, const char *path,
                                    const char *bytes, size_t n);

/* EARG: the output (NULL and "-" are fine) is the file that is read. */
AXE_CHECK axe_status axe_tool_check_output(axe_ctx *cx, const char *out,
                                           const char *in);
/* Does `axe VERB --timeline PATH` name a picture (.svg) or trace events
 * (.json)? AXE_EXIT_USAGE, said, if not. */
int axe_tool_check_picture(const char *verb, const char *path);
/* Write that; EIO. */
struct axe_timeline;
AXE_CHECK axe_status axe_tool_picture(axe_ctx *cx, const char *path,
                                      const struct axe_timeline *t);

/* Are both names of one file, be it there or not? */
bool axe_tool_same_file(const char *a, const char *b);

/* What a verb does in a context of its own; false in *speaks: it has failed,
 * and others have said so.  Returns the verb's exit status, as axe_tool_finish.
 */
typedef axe_status axe_tool_work(axe_ctx *cx, void *user, bool *speaks);
int                axe_tool_do(axe_tool_work *work, void *user);

/* All of the text is a number from 1 to `most`; 0: it is not. */
long long axe_tool_number(const char *text, long long most);

/* Write what is in stdout's buffer; AXE_EXIT_FAIL with a message if that
 * fails (disk full, closed pipe), else `code`.  The last act of a verb. */
int axe_tool_finish(int code);

/* The value of an expression, which must be a layout; `name` is what messages
 * call it.  ETYPE. */
AXE_CHECK axe_status axe_tool_layout(axe_ctx *cx, const char *name,
                                     const char *text, const axe_layout **out);

/* The options that all verbs of layouts have, behind their own: a row each for
 * the long options, the letters for the short ones, and what was said. */
#define AXE_LAYOUT_OPTIONS                                                     \
    {"json", no_argument, NULL, 'j'},                                          \
        {"machine", required_argument, NULL, 'm'},                             \
        {"strict-axes", no_argument, NULL, 's'},                               \
        {"help", no_argument, NULL, 'h'},                                      \
    {                                                                          \
        NULL, 0, NULL, 0                                                       \
    }
#define AXE_LAYOUT_LETTERS "m:h"

typedef struct axe_layout_args {
    bool        json, strict;
    const char *machine;
} axe_layout_args;

/* Is c one of them, but for help?  Takes it. */
bool axe_tool_layout_arg(int c, axe_layout_args *out);

/* Load the axes of `machine` (NULL: none) and say whether other identifiers
 * are axes too. ENAME for an unknown machine, with a suggestion. */
AXE_CHECK axe_status axe_tool_axes(axe_ctx *cx, const char *machine,
                                   bool strict);

#endif
