/* nvidia.c - NVIDIA's GPUs as machines: rows of the tables in nvidia/. */
#include "machine/machine.h"

#include "machine/atom_rows.h"
static const axe_atom nvidia_atoms[] = {
#include "machine/nvidia/atoms.def"
};

static const axe_compute_row nvidia_types[] = {
#define COMPUTE(type, compute, needs)                                          \
    {AXE_TYPE_##type, AXE_TYPE_##compute, needs},
#include "machine/nvidia/types.def"
};

static const axe_machine machines[] = {
#define NVIDIA(id, usual, shared, regs, most, clusters, columns, least, form,  \
               elect, sms, l2, clock, words)                                   \
    {.name = (id),                                                             \
     .family = "nvidia",                                                       \
     .kind = AXE_KIND_simt,                                                    \
     .language = AXE_LANGUAGE_cuda,                                            \
     .arch = (id),                                                             \
     .vector_bits = 128,                                                       \
     .n_vreg = (most),                                                         \
     .l2_bytes = (l2),                                                         \
     .l2_ways = 16,                                                            \
     .ghz = (clock),                                                           \
     .features = (words),                                                      \
     .n_atom = AXE_LEN(nvidia_atoms),                                          \
     .atom = nvidia_atoms,                                                     \
     .n_compute = AXE_LEN(nvidia_types),                                       \
     .compute = nvidia_types,                                                  \
     .simt = &(const axe_simt){.lanes = 32,                                    \
                               .group = 4,                                     \
                               .max_threads = 1024,                            \
                               .threads = (usual),                             \
                               .max_cluster = (clusters),                      \
                               .banks = 32,                                    \
                               .bank_bytes = 4,                                \
                               .shared_bytes = (shared),                       \
                               .registers = (regs),                            \
                               .max_registers = (most),                        \
                               .n_sm = (sms),                                  \
                               .sector_bytes = 32,                             \
                               .max_vector = 16,                               \
                               .named_barriers = 16,                           \
                               .map_bits = (least),                            \
                               .desc = AXE_DESC_##form,                        \
                               .elects = (elect),                              \
                               .tmem_columns = (columns),                      \
                               .tmem_lanes = 128,                              \
                               .tmem_least = 32}},
#include "machine/nvidia/machines.def"
};

const axe_family axe_nvidia_machines = {"nvidia", AXE_LEN(machines), machines};
