/* descriptor.h - how atoms are told of matrices in shared memory: the rows of
 * nvidia/descriptors.def. */
#ifndef AXE_MACHINE_DESCRIPTOR_H
#define AXE_MACHINE_DESCRIPTOR_H

#include <stdint.h>

enum {
#define FIELD(id, at, bits)                                                    \
    AXE_DESC_##id##_AT = (at), AXE_DESC_##id##_BITS = (bits),
#define UNIT(bytes, rows) AXE_DESC_UNIT = (bytes), AXE_DESC_ROWS = (rows)
#include "machine/nvidia/descriptors.def"
};

/* Whose they are; 0: the machine has none. */
typedef enum axe_desc_form {
    AXE_DESC_none,
#define FORM(id, version, at, none, w32, w64, w128) AXE_DESC_##id,
#include "machine/nvidia/descriptors.def"
    AXE_N_DESC
} axe_desc_form;

/* The bits of a field, where it is. */
#define AXE_DESC_MASK(id)                                                      \
    (((UINT64_C(1) << AXE_DESC_##id##_BITS) - 1) << AXE_DESC_##id##_AT)

/* A descriptor that begins at 0, with a swizzle of UNIT << swizzle bytes.
 * lead, stride  [bytes] */
uint64_t axe_desc_make(axe_desc_form form, int swizzle, int64_t lead,
                       int64_t stride);
/* What a descriptor that begins at 0 lacks to begin at so many bytes. */
uint64_t axe_desc_start(int64_t at);

#endif
