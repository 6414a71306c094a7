/* axes.c - the axis tables, from each machine's axes.def. */
#include <string.h>

#include "axe/machine.h"

/* Each .def is read for its axes, for its nestings, and for what else they
 * are called. */
static const axe_axis_row cpu_axis[] = {
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#include "machine/cpu/axes.def"
};

static const axe_axis_row nvidia_axis[] = {
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#define ALIAS(name, axis)
#include "machine/nvidia/axes.def"
};

static const axe_nest_row nvidia_nest[] = {
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
#define ALIAS(name, axis)
#include "machine/nvidia/axes.def"
};

static const axe_alias_row nvidia_alias[] = {
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor)
#define ALIAS(name, axis) {#name, #axis},
#include "machine/nvidia/axes.def"
};

static const axe_axis_row cuda_axis[] = {
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#include "machine/cuda/axes.def"
};

static const axe_nest_row cuda_nest[] = {
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
#include "machine/cuda/axes.def"
};

/* Of devices without sub-groups; those that have them have tables of their own
 * (opencl.c). */
#define LANES 1
static const axe_axis_row opencl_axis[] = {
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#define ALIAS(name, axis)
#include "machine/opencl/axes.def"
};

static const axe_nest_row opencl_nest[] = {
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
#define ALIAS(name, axis)
#include "machine/opencl/axes.def"
};

static const axe_alias_row opencl_alias[] = {
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor)
#define ALIAS(name, axis) {#name, #axis},
#include "machine/opencl/axes.def"
};

static const axe_axis_row trainium_axis[] = {
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#include "machine/trainium/axes.def"
};

static const axe_axis_table tables[] = {
    {"cpu", AXE_LEN(cpu_axis), 0, cpu_axis, NULL, 0, NULL},
    {"nvidia", AXE_LEN(nvidia_axis), AXE_LEN(nvidia_nest), nvidia_axis,
     nvidia_nest, AXE_LEN(nvidia_alias), nvidia_alias},
    {"cuda", AXE_LEN(cuda_axis), AXE_LEN(cuda_nest), cuda_axis, cuda_nest, 0,
     NULL},
    {"opencl", AXE_LEN(opencl_axis), AXE_LEN(opencl_nest), opencl_axis,
     opencl_nest, AXE_LEN(opencl_alias), opencl_alias},
    {"trainium", AXE_LEN(trainium_axis), 0, trainium_axis, NULL, 0, NULL},
};

const axe_axis_table *
axe_machine_axes_all(int *n)
{
    if (n)
        *n = AXE_LEN(tables);
    return tables;
}

const axe_axis_table *
axe_machine_axes(const char *machine)
{
    for (int k = 0; machine && k < AXE_LEN(tables); k++)
        if (strcmp(tables[k].machine, machine) == 0)
            return &tables[k];
    return NULL;
}
