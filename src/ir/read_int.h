/* read_int.h - the IR reader's state, for its files read*.c. */
#ifndef AXE_IR_READ_INT_H
#define AXE_IR_READ_INT_H

#include "ir/list.h"
#include "ir/text_int.h"

/* What a name stands for: exactly one of the three. */
typedef struct axe_named {
    const char         *name;
    const axe_var      *var;
    const axe_tensor   *tensor;
    const axe_pipeline *pipeline;
} axe_named;

typedef struct axe_reader {
    axe_ctx    *cx;
    int32_t     source, line;
    const char *text, *s, *end, *line_start;
    int         depth, n_op;
    axe_list    names; /* visible, innermost last */
    axe_kernel *kernel;
    axe_list    sizes;
    bool        on_device; /* in a `device` */
} axe_reader;

/* At the next thing to be read, after blanks. */
axe_span axe_read_at(axe_reader *r);
/* ESYNTAX: what was expected here. */
axe_status axe_read_expected(axe_reader *r, const char *what);
/* Skip blanks, then this sign if it is next. */
bool                 axe_read_take(axe_reader *r, const char *sign);
AXE_CHECK axe_status axe_read_need(axe_reader *r, const char *sign);
/* Skip blanks, then this word if it is next, as a whole. */
bool axe_read_word(axe_reader *r, const char *word);
/* A name, with the dots inside it, interned. */
AXE_CHECK axe_status axe_read_name(axe_reader *r, const char **out);
AXE_CHECK axe_status axe_read_int(axe_reader *r, int64_t *out);
AXE_CHECK axe_status axe_read_enter(axe_reader *r);

const axe_named *axe_read_find(const axe_reader *r, const char *name);
/* ENAME if it is taken. */
AXE_CHECK axe_status axe_read_declare(axe_reader *r, axe_named what);

AXE_CHECK axe_status axe_read_var(axe_reader *r, axe_var_kind kind,
                                  const axe_node *extent, const char *name,
                                  axe_var **out);
/* type NAME shape [ ":" ( strides [ "packed" ] | layout ) ] */
AXE_CHECK axe_status axe_read_tensor(axe_reader *r, axe_space space,
                                     axe_dir dir, const axe_pipeline *ring,
                                     const axe_tensor **out);
/* "{" { statement } "}" into out; names end with it. */
AXE_CHECK axe_status axe_read_block(axe_reader *r, axe_list *out);

/* read_mesh.c: what follows "mesh", and then "part", in a kernel's head; what
 * is said of a tensor behind its strides, which is a whole one, too, then. */
AXE_CHECK axe_status axe_read_mesh(axe_reader *r);
AXE_CHECK axe_status axe_read_parts(axe_reader *r);
AXE_CHECK axe_status axe_read_held(axe_reader *r, axe_tensor *t);
/* The tensor of that name as it is seen where we are. */
const axe_tensor *axe_read_seen(const axe_reader *r, const axe_named *what);

AXE_CHECK axe_status axe_read_expr(axe_reader *r, const axe_node **out);
/* name "[" subscripts "]" */
AXE_CHECK axe_status axe_read_place(axe_reader *r, const axe_node **out);
/* NAME ":" sum { "," NAME ":" sum }, appended to `dims` (axe_dim). */
AXE_CHECK axe_status axe_read_dims(axe_reader *r, axe_list *dims);

#endif
