/* spirv.c - texts of OpenCL C as SPIR-V, by clang and the translator of its
 * version, which is a package of its own.
 *
 * The driver's compiler optimises: clang leaves its code as it is, and so free
 * of instructions that the translator does not know (`freeze`). */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "machine/machine.h"
#include "print/opencl/opencl.h"
#include "run/array/file.h"
#include "run/cc.h"
#include "run/opencl/spirv.h"

enum { NEWEST = 30, OLDEST = 14 };

typedef struct tools {
    const char *clang, *translator;
} tools;

/* The newest of which both are there. */
static axe_status
find_tools(axe_ctx *cx, tools *out)
{
    for (int v = NEWEST; v >= OLDEST; v--) {
        *out = (tools){axe_command_find(cx, axe_textf(cx, "clang-%d", v)),
                       axe_command_find(cx, axe_textf(cx, "llvm-spirv-%d", v))};
        if (out->clang && out->translator)
            return AXE_OK;
    }
    *out = (tools){axe_command_find(cx, "clang"),
                   axe_command_find(cx, "llvm-spirv")};
    if (out->clang && out->translator)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
             "SPIR-V is made by clang and llvm-spirv of one version, but no "
             "two such are on PATH");
    axe_help(cx, "install them ('apt-get install clang-14 llvm-spirv-14'); the "
                 "text of OpenCL C needs neither");
    return AXE_ETOOL;
}

static axe_status
build(axe_ctx *cx, const axe_program *p, const char *dir, axe_bytes *out)
{
    const char *text = axe_textf(cx, "%s/0.cl", dir);
    const char *bitcode = axe_textf(cx, "%s/0.bc", dir);
    const char *code = axe_textf(cx, "%s/0.spv", dir);
    tools       t;

    AXE_TRY(find_tools(cx, &t));
    AXE_TRY(axe_file_write(cx, text, 0600, p->c_text, strlen(p->c_text)));
    AXE_TRY(axe_command_run(
        cx,
        (const char *[]){t.clang, "-x", "cl", "-cl-std=CL3.0", "-target",
                         "spir64", "-O1", "-Xclang", "-disable-llvm-passes",
                         "-Xclang", "-finclude-default-header", "-emit-llvm",
                         "-w", "-c", text, "-o", bitcode, NULL}));
    AXE_TRY(axe_command_run(
        cx, (const char *[]){t.translator, bitcode, "-o", code, NULL}));
    return axe_file_read(cx, code, out);
}

axe_status
axe_spirv(axe_ctx *cx, const axe_program *p, const void **out, size_t *bytes)
{
    static const char *const made[] = {"0.cl", "0.bc", "0.spv"};
    const char              *base = getenv("TMPDIR");
    char *dir = axe_textf(cx, "%s/axe_XXXXXX", base && *base ? base : "/tmp");
    axe_bytes  code = {0};
    axe_status st;

    if (p->machine->language != AXE_LANGUAGE_opencl)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "SPIR-V is made for machines of OpenCL, and %s is none",
                        p->machine->name);
    if (!mkdtemp(dir))
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "%s: no temporary directory to compile in: %s", dir,
                        strerror(errno));
    st = build(cx, p, dir, &code);
    if (st == AXE_OK) {
        void *copy = axe_alloc(cx, code.len + 1);
        memcpy(copy, code.data, code.len);
        *out = copy;
        *bytes = code.len;
    }
    free(code.data);
    for (int i = 0; i < AXE_LEN(made); i++)
        unlink(axe_textf(cx, "%s/%s", dir, made[i]));
    rmdir(dir);
    return st;
}
