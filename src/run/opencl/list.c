/* list.c - the devices of all platforms, and what each says of itself.
 *
 * A question that a device does not answer leaves its fact empty: vendors'
 * extensions are asked only where they are named, the rest is OpenCL 1.2. */
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "run/opencl/opencl_int.h"

enum { MAX_DEVICE = 64 };
#define ALL_KINDS UINT32_MAX

static const struct {
    const char *word, *extension;
    unsigned    question; /* 0: none */
    int64_t     bits;     /* of its answer */
} features[] = {
#define FEATURE(word, extension, asks, bits, text)                             \
    {word, extension, asks, bits},
#include "run/opencl/features.def"
};

/* Who tells how many lanes run together, and by which question. */
static const struct {
    const char *extension;
    unsigned    question;
    size_t      bytes; /* of each answer */
} width_questions[] = {
    {"cl_intel_required_subgroup_size", AXE_CL_DEVICE_SUB_GROUP_SIZES_INTEL,
     sizeof(size_t)},
    {"cl_nv_device_attribute_query", AXE_CL_DEVICE_WARP_SIZE_NV,
     sizeof(uint32_t)},
    {"cl_amd_device_attribute_query", AXE_CL_DEVICE_WAVEFRONT_WIDTH_AMD,
     sizeof(uint32_t)},
};

/* ------------------------------------------------------------- questions */

static const char *
text_of(axe_ctx *cx, const axe_cl_calls *call, void *device, unsigned what)
{
    size_t n = 0;
    char  *text;

    if (call->GetDeviceInfo(device, what, 0, NULL, &n) != 0 || n == 0)
        return "";
    text = axe_alloc(cx, n + 1);
    if (call->GetDeviceInfo(device, what, n, text, NULL) != 0)
        return "";
    for (n = strlen(text); n > 0 && text[n - 1] == ' ';)
        text[--n] = '\0';
    return axe_text_plain(cx, text + strspn(text, " "));
}

/* Of 4 or 8 bytes; 0 where there is no answer. */
static int64_t
number_of(const axe_cl_calls *call, void *device, unsigned what)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    size_t   n = 0;

    if (call->GetDeviceInfo(device, what, 0, NULL, &n) != 0)
        return 0;
    if (n == sizeof narrow &&
        call->GetDeviceInfo(device, what, n, &narrow, NULL) == 0)
        return narrow;
    if (n == sizeof wide &&
        call->GetDeviceInfo(device, what, n, &wide, NULL) == 0)
        return wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
    return 0;
}

static const char *
features_of(axe_ctx *cx, const axe_cl_calls *call, void *device,
            const char *extensions)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, ' ');
    for (int i = 0; i < AXE_LEN(features); i++)
        if (axe_word_among(features[i].extension, extensions) &&
            !axe_word_among(features[i].word, b.text) &&
            (features[i].question == 0 ||
             (number_of(call, device, features[i].question) &
              features[i].bits) == features[i].bits))
            axe_putf(&b, "%s ", features[i].word);
    return b.text;
}

static void
find_widths(const axe_cl_calls *call, void *device, const char *extensions,
            axe_opencl_facts *out)
{
    for (int i = 0; i < AXE_LEN(width_questions) && out->n_width == 0; i++) {
        size_t   bytes = width_questions[i].bytes, n = 0;
        unsigned what = width_questions[i].question;
        char     answer[AXE_OPENCL_WIDTHS * sizeof(size_t)];

        if (!axe_word_among(width_questions[i].extension, extensions) ||
            call->GetDeviceInfo(device, what, 0, NULL, &n) != 0 ||
            n > sizeof answer ||
            call->GetDeviceInfo(device, what, n, answer, NULL) != 0)
            continue;
        for (size_t at = 0; at + bytes <= n && at < AXE_OPENCL_WIDTHS * bytes;
             at += bytes) {
            size_t   wide;
            uint32_t narrow;
            memcpy(&wide, answer + at, bytes == sizeof wide ? bytes : 0);
            memcpy(&narrow, answer + at, sizeof narrow);
            out->width[out->n_width++] =
                (int)(bytes == sizeof wide ? wide : narrow);
        }
    }
}

static const char *
kind_of(int64_t bits)
{
    return bits & AXE_CL_DEVICE_TYPE_GPU           ? "gpu"
           : bits & AXE_CL_DEVICE_TYPE_CPU         ? "cpu"
           : bits & AXE_CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                   : "other";
}

static axe_opencl_facts
describe(axe_ctx *cx, const axe_cl_calls *call, const char *platform,
         void *device, int number)
{
    const char      *ext = text_of(cx, call, device, AXE_CL_DEVICE_EXTENSIONS);
    axe_opencl_facts f = {
        .number = number,
        .name = text_of(cx, call, device, AXE_CL_DEVICE_NAME),
        .kind = kind_of(number_of(call, device, AXE_CL_DEVICE_TYPE)),
        .platform = platform,
        .version = text_of(cx, call, device, AXE_CL_DEVICE_VERSION),
        .c_version = text_of(cx, call, device, AXE_CL_DEVICE_OPENCL_C_VERSION),
        .driver = text_of(cx, call, device, AXE_CL_DRIVER_VERSION),
        .n_unit = (int)number_of(call, device, AXE_CL_DEVICE_MAX_COMPUTE_UNITS),
        .memory_bytes = number_of(call, device, AXE_CL_DEVICE_GLOBAL_MEM_SIZE),
        .most_bytes = number_of(call, device, AXE_CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        .local_bytes = number_of(call, device, AXE_CL_DEVICE_LOCAL_MEM_SIZE),
        .local_own = number_of(call, device, AXE_CL_DEVICE_LOCAL_MEM_TYPE) ==
                     AXE_CL_LOCAL,
        .most_items =
            number_of(call, device, AXE_CL_DEVICE_MAX_WORK_GROUP_SIZE),
        .features = features_of(cx, call, device, ext),
    };

    find_widths(call, device, ext, &f);
    return f;
}

/* ------------------------------------------------------------- platforms */

static axe_status
no_platform(axe_ctx *cx)
{
    axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
             "libOpenCL knows no platform: no vendor's runtime is installed, "
             "or none starts");
    axe_help(cx, "a runtime is named by a file in /etc/OpenCL/vendors, or in "
                 "the folder that OCL_ICD_VENDORS names, and needs its own "
                 "libraries to be found (LD_LIBRARY_PATH), without which it is "
                 "left out in silence");
    return AXE_EDEVICE;
}

static axe_status
find_platforms(axe_ctx *cx, const axe_cl_calls *call, unsigned *n, void **out)
{
    int r = call->GetPlatformIDs(MAX_DEVICE, out, n);

    if (r == -1001 || (r == 0 && *n == 0))
        return no_platform(cx);
    if (*n > MAX_DEVICE)
        *n = MAX_DEVICE;
    return axe_cl_check(cx, r, "looking for platforms of OpenCL");
}

static const char *
platform_name(axe_ctx *cx, const axe_cl_calls *call, void *platform)
{
    char name[128] = "";

    if (call->GetPlatformInfo(platform, AXE_CL_PLATFORM_NAME, sizeof name - 1,
                              name, NULL) != 0)
        return "";
    return axe_text_plain(cx, name);
}

/* Platforms without a device are as if they were not there. */
axe_status
axe_cl_devices(axe_ctx *cx, axe_ctx *keep, const axe_cl_calls *call, int *n,
               axe_opencl_facts **facts, void ***device)
{
    void             *platform[MAX_DEVICE], *found[MAX_DEVICE];
    axe_opencl_facts *all = axe_new_array(keep, axe_opencl_facts, MAX_DEVICE);
    void            **handle = axe_new_array(keep, void *, MAX_DEVICE);
    unsigned          n_platform = 0, n_found;
    int               n_all = 0;

    AXE_TRY(find_platforms(cx, call, &n_platform, platform));
    for (unsigned i = 0; i < n_platform; i++) {
        const char *name = platform_name(keep, call, platform[i]);
        n_found = 0;
        if (call->GetDeviceIDs(platform[i], ALL_KINDS, MAX_DEVICE, found,
                               &n_found) != 0)
            continue;
        for (unsigned j = 0; j < n_found && n_all < MAX_DEVICE; j++) {
            all[n_all] = describe(keep, call, name, found[j], n_all);
            handle[n_all++] = found[j];
        }
    }
    *n = n_all;
    *facts = all;
    if (device)
        *device = handle;
    return AXE_OK;
}

axe_status
axe_opencl_list(axe_ctx *cx, int *n, const axe_opencl_facts **out)
{
    AXE_NEED(cx, n);
    AXE_NEED(cx, out);
    const axe_cl_calls *call;
    axe_opencl_facts   *all;

    AXE_TRY(axe_cl_load(cx, &call));
    AXE_TRY(axe_cl_devices(cx, cx, call, n, &all, NULL));
    *out = all;
    return AXE_OK;
}
