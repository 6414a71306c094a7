/* formats.h - a reader and a writer for each row of formats.def. */
#ifndef AXE_CONVERT_FORMATS_H
#define AXE_CONVERT_FORMATS_H

#include "axe/convert.h"
#include "convert/text.h"

typedef axe_status axe_cv_reader(axe_ctx *cx, const char *text,
                                 const axe_convert_options *opt,
                                 const axe_layout         **out);
typedef axe_status axe_cv_writer(axe_ctx *cx, const axe_layout *l,
                                 const axe_convert_options *opt,
                                 const char               **text);

axe_cv_reader axe_cv_read_axe, axe_cv_read_cute, axe_cv_read_tv;
axe_cv_reader axe_cv_read_einops, axe_cv_read_numpy, axe_cv_read_torch;
axe_cv_reader axe_cv_read_dtensor, axe_cv_read_jax, axe_cv_read_gspmd;
axe_cv_reader axe_cv_read_alpa, axe_cv_read_megatron, axe_cv_read_triton;
axe_cv_reader axe_cv_read_shardy, axe_cv_read_oneflow, axe_cv_read_zigzag;
axe_cv_reader axe_cv_read_blockcyclic;
axe_cv_writer axe_cv_write_axe, axe_cv_write_cute, axe_cv_write_tv;
axe_cv_writer axe_cv_write_numpy, axe_cv_write_torch, axe_cv_write_triton;
axe_cv_writer axe_cv_write_einops, axe_cv_write_dtensor, axe_cv_write_jax;
axe_cv_writer axe_cv_write_shardy, axe_cv_write_gspmd, axe_cv_write_alpa;
axe_cv_writer axe_cv_write_oneflow, axe_cv_write_megatron;
axe_cv_writer axe_cv_write_blockcyclic, axe_cv_write_zigzag;

#endif
