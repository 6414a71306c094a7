/* verb_fmt.c - `axe fmt`: kernel files in their form. */
#include "base/ctx.h"
#include "kernel.h"
#include "lang/lang.h"
#include "run/array/file.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char verb[] = "fmt";

static const char help[] =
    "usage: axe fmt [OPTION]... FILE...\n"
    "\n"
    "Prints kernel files with their indentation and blanks set; line breaks\n"
    "and comments stay.\n"
    "\n"
    "      --check             print nothing; name the files that would "
    "change and\n"
    "                          exit 1 if there are any\n"
    "  -w, --write             change the files, each as a whole\n"
    "  -h, --help              this text\n";

enum { OPT_CHECK = AXE_OPT_FREE };

static const struct option known[] = {{"check", no_argument, NULL, OPT_CHECK},
                                      {"write", no_argument, NULL, 'w'},
                                      {"help", no_argument, NULL, 'h'},
                                      {0}};

typedef struct options {
    bool check, write, help;
} options;

static int
read_args(int argc, char **argv, options *o)
{
    int c;

    while ((c = getopt_long(argc, argv, "hw", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_wrong(argv, known);
        o->check = o->check || c == OPT_CHECK;
        o->write = o->write || c == 'w';
        o->help = o->help || c == 'h';
    }
    if (o->help)
        return AXE_EXIT_OK;
    if (o->check && o->write)
        return axe_tool_usage(verb, "--check changes nothing, so that -w "
                                    "does not go with it");
    if (optind == argc)
        return axe_tool_usage(verb, "a kernel file is missing");
    return AXE_EXIT_OK;
}

/* With the permissions that the file has. */
static axe_status
write_back(axe_ctx *cx, const char *file, const axe_buf *text)
{
    struct stat st;
    int         mode = stat(file, &st) == 0 ? (int)(st.st_mode & 0777) : 0666;

    return axe_file_write(cx, file, mode, text->text ? text->text : "",
                          text->len);
}

static axe_status
format_file(axe_ctx *cx, const options *o, const char *file, bool *changed)
{
    axe_buf     text = {.cx = cx};
    const char *old;
    int32_t     source;
    size_t      len;

    AXE_TRY(axe_kernel_source(cx, file, &source));
    AXE_TRY(axe_module_format(cx, source, &text));
    old = axe_source_text(cx, source, &len);
    *changed = len != text.len || (len > 0 && memcmp(old, text.text, len) != 0);
    if (o->check && *changed)
        printf("%s\n", axe_text_plain(cx, file));
    if (!o->check && !o->write)
        return axe_tool_write(cx, "-", text.text ? text.text : "", text.len);
    return o->write && *changed ? write_back(cx, file, &text) : AXE_OK;
}

int
axe_verb_fmt(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {0};
    int      code = read_args(argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    for (int i = optind; code != AXE_EXIT_USAGE && !o.help && i < argc; i++) {
        bool changed = false;
        if (format_file(cx, &o, argv[i], &changed) != AXE_OK ||
            (o.check && changed))
            code = AXE_EXIT_FAIL;
    }
    return axe_kernel_end(cx, code);
}
