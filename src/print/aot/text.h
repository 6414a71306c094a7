/* text.h - the C of print/aot/aot.c that is the same for all kernels: the
 * statuses, for the header too; what is included; threads that start, meet and
 * end; memory for tiles, the call, the check of arguments, and launches on a
 * GPU. */
#ifndef AXE_PRINT_AOT_TEXT_H
#define AXE_PRINT_AOT_TEXT_H

extern const char axe_aot_status[], axe_aot_includes[], axe_aot_team[],
    axe_aot_call[], axe_aot_check_text[], axe_aot_gpu[], axe_aot_start[],
    axe_aot_map[], axe_aot_index[];

/* text_opencl.c: around programs, which are of a text or of SPIR-V. */
extern const char axe_aot_opencl[], axe_aot_opencl_needs[],
    axe_aot_opencl_text[], axe_aot_opencl_code[], axe_aot_opencl_start[];

#endif
