/* sharding_write.h - a layout over devices, taken apart to be written. */
#ifndef AXE_CONVERT_SHARDING_WRITE_H
#define AXE_CONVERT_SHARDING_WRITE_H

#include "axe/convert.h"
#include "convert/sharding_int.h"
#include "convert/text.h"

/* A digit of a dimension: devices, or the local buffer. */
typedef struct axe_part {
    int64_t extent, stride;
    bool    device;
    int     axis;  /* of the mesh, once parts are by axes */
    int64_t major; /* devices of the axis above this part */
} axe_part;

typedef struct axe_parts {
    int       n;
    axe_part *part; /* slow to fast */
} axe_parts;

typedef struct axe_writing {
    axe_ctx     *cx;
    const char  *system;
    axe_sharding mesh; /* its axes alone */
    int          rank, n_device, n_part;
    bool         column; /* local buffers */
    int64_t      first;  /* device of the first element */
    axe_parts    dim[AXE_SHARD_RANK], copy;
} axe_writing;

/* Elements are on devices, and in compact local buffers; else ESHAPE or
 * EUNSUPPORTED with the reason. */
AXE_CHECK axe_status axe_writing_begin(axe_ctx *cx, const char *system,
                                       const axe_layout          *l,
                                       const axe_convert_options *opt,
                                       bool column, axe_writing *w);
/* ESHAPE: a device has nothing, or two parts. */
AXE_CHECK axe_status axe_writing_over_mesh(axe_writing *w);
/* Devices count up from 0; else ESHAPE. */
AXE_CHECK axe_status axe_writing_forward(const axe_writing *w);
/* Both; then devices' parts become parts of axes
 * of the mesh, or (whole) whole axes; ESHAPE where they are none. */
AXE_CHECK axe_status axe_writing_by_axes(axe_writing *w, bool whole);
/* ESHAPE: some device's part of a dimension is inside a local one. */
AXE_CHECK axe_status axe_writing_in_chunks(const axe_writing *w);

#endif
