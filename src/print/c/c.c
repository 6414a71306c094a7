/* c.c - C text of a lowered kernel.
 *
 * The entry's body is printed first, noting which vector types and helpers it
 * uses; then the unit is put together: types, helpers, entry.  Accumulators are
 * variables of their own and loops are plain, which is the style that gcc and
 * clang compile best; nothing is included, since headers cost more time than
 * the kernel. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "print/c/c_int.h"

static axe_status put_block(axe_cprinter *p, const axe_lblock *blk, int depth);

static axe_status
put_tasks(axe_cprinter *p, const axe_lir *l, int depth)
{
    axe_buf    *b = p->out;
    const char *v = axe_c_var(p, l->var);

    axe_putf(b, "%*sconst i64 n_task = ", 4 * depth, "");
    AXE_TRY(axe_c_index(p, b, l->end));
    axe_putf(b, ", share = n_task / workers, more = n_task %% workers;\n");
    axe_putf(b,
             "%*sconst i64 first = worker * share + axe_min(worker, more);\n",
             4 * depth, "");
    axe_putf(b,
             "%*sfor (i64 %s = first; %s < first + share + (worker < more); "
             "%s++) {\n",
             4 * depth, "", v, v, v);
    AXE_TRY(put_block(p, &l->body, depth + 1));
    axe_putf(b, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static bool
awaits(const axe_lblock *b)
{
    bool any = false;

    for (int i = 0; i < b->n && !any; i++)
        any = (b->item[i]->kind == AXE_LIR_OP &&
               b->item[i]->op == AXE_LOP_await) ||
              awaits(&b->item[i]->body) || awaits(&b->item[i]->other);
    return any;
}

/* Behind the body an entity is off the list; where one is put aside, `later`
 * goes to the next one. */
static axe_status
put_list(axe_cprinter *p, const axe_lir *l, int depth)
{
    axe_buf    *b = p->out;
    const char *v = axe_c_var(p, l->var);
    int         n = ++p->n_list;

    axe_putf(b, "%*saxe_list list_%d = {.more = 1};\n", 4 * depth, "", n);
    axe_putf(b, "%*sfor (i64 %s; (%s = axe_next(&list_%d, &%s[", 4 * depth, "",
             v, v, n, axe_c_name(p->cx, "t", l->mem.tensor->name));
    AXE_TRY(axe_c_index(p, b, l->mem.at));
    axe_puts(b, "], ");
    AXE_TRY(axe_c_index(p, b, l->end));
    axe_puts(b, ", team)) >= 0;) {\n");
    p->list = n;
    AXE_TRY(put_block(p, &l->body, depth + 1));
    axe_putf(b, "%*saxe_off(&list_%d);\n", 4 * depth + 4, "", n);
    if (awaits(&l->body))
        axe_putf(b, "%*scontinue;\n%*slater_%d:\n%*slist_%d.at++;\n",
                 4 * depth + 4, "", 4 * depth, "", n, 4 * depth + 4, "", n);
    axe_putf(b, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static axe_status
put_loop(axe_cprinter *p, const axe_lir *l, int depth)
{
    axe_buf    *b = p->out;
    const char *v = axe_c_var(p, l->var);

    axe_putf(b, "%*sfor (i64 %s = ", 4 * depth, "", v);
    AXE_TRY(axe_c_index(p, b, l->begin));
    axe_putf(b, "; %s < ", v);
    AXE_TRY(axe_c_index(p, b, l->end));
    if (l->step == 1)
        axe_putf(b, "; %s++) {\n", v);
    else
        axe_putf(b, "; %s += %" PRId64 ") {\n", v, l->step);
    AXE_TRY(put_block(p, &l->body, depth + 1));
    axe_putf(b, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static axe_status
put_if(axe_cprinter *p, const axe_lir *l, int depth)
{
    axe_putf(p->out, "%*sif (", 4 * depth, "");
    AXE_TRY(axe_c_index(p, p->out, l->value));
    axe_puts(p->out, ") {\n");
    AXE_TRY(put_block(p, &l->body, depth + 1));
    if (l->other.n > 0)
        axe_putf(p->out, "%*s} else {\n", 4 * depth, "");
    AXE_TRY(put_block(p, &l->other, depth + 1));
    axe_putf(p->out, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static axe_status
put_view(axe_cprinter *p, const axe_lir *l, int depth)
{
    axe_buf *b = p->out;

    axe_putf(b, "%*sconst %s *%s = ", 4 * depth, "", axe_c_element(l->mem.type),
             axe_c_name(p->cx, "t", l->mem.tensor->name));
    AXE_TRY(axe_c_index(p, b, l->value));
    for (int i = 0; i < 2; i++) {
        axe_putf(b, " %c %s + ", "?:"[i],
                 axe_c_name(p->cx, "t", l->choice[i].tensor->name));
        AXE_TRY(axe_c_index(p, b, l->choice[i].at));
    }
    axe_puts(b, ";\n");
    return AXE_OK;
}

static axe_status
put_block(axe_cprinter *p, const axe_lblock *blk, int depth)
{
    for (int i = 0; i < blk->n; i++) {
        const axe_lir *l = blk->item[i];
        const char    *v;
        switch (l->kind) {
        case AXE_LIR_TASKS:
            AXE_TRY(put_tasks(p, l, depth));
            break;
        case AXE_LIR_LIST:
            AXE_TRY(put_list(p, l, depth));
            break;
        case AXE_LIR_BLOCK:
            axe_putf(p->out, "%*s{\n", 4 * depth, "");
            AXE_TRY(put_block(p, &l->body, depth + 1));
            axe_putf(p->out, "%*s}\n", 4 * depth, "");
            break;
        case AXE_LIR_LOOP:
            AXE_TRY(put_loop(p, l, depth));
            break;
        case AXE_LIR_IF:
            AXE_TRY(l == p->branch
                        ? put_block(p, p->side ? &l->other : &l->body, depth)
                        : put_if(p, l, depth));
            break;
        case AXE_LIR_FOREVER:
            axe_putf(p->out, "%*sfor (;;) {\n", 4 * depth, "");
            AXE_TRY(put_block(p, &l->body, depth + 1));
            axe_putf(p->out, "%*s}\n", 4 * depth, "");
            break;
        case AXE_LIR_BREAK:
            axe_putf(p->out, "%*sbreak;\n", 4 * depth, "");
            break;
        case AXE_LIR_CONTINUE:
            axe_putf(p->out, "%*scontinue;\n", 4 * depth, "");
            break;
        case AXE_LIR_LET:
            axe_putf(p->out, "%*sconst i64 %s = ", 4 * depth, "",
                     axe_c_var(p, l->var));
            AXE_TRY(axe_c_index(p, p->out, l->value));
            axe_puts(p->out, ";\n");
            break;
        case AXE_LIR_TAKE:
            axe_putf(p->out, "%*sconst i64 %s = r%d;\n", 4 * depth, "",
                     axe_c_var(p, l->var), l->src[0].id);
            break;
        case AXE_LIR_COUNT:
            axe_putf(p->out, "%*si64 %s = 0;\n", 4 * depth, "",
                     axe_c_var(p, l->var));
            break;
        case AXE_LIR_ADVANCE:
            v = axe_c_var(p, l->var);
            axe_putf(p->out, "%*s%s = %s + 1 == %" PRId64 " ? 0 : %s + 1;\n",
                     4 * depth, "", v, v, l->step, v);
            break;
        case AXE_LIR_VIEW:
            AXE_TRY(put_view(p, l, depth));
            break;
        case AXE_LIR_OP:
            AXE_TRY(axe_c_op(p, l, depth));
            break;
        case AXE_LIR_NOTE:
            axe_putf(p->out, "%*s/* %s */\n", 4 * depth, "", l->text);
            break;
        case AXE_LIR_SET:
        case AXE_LIR_ATOM:
        case AXE_LIR_CALC:
            assert(l->kind < AXE_LIR_SET); /* only grids have these */
        }
    }
    return AXE_OK;
}

/* What one worker writes and another reads is not its own alone. */
static void
put_global(axe_cprinter *p, const axe_tensor *t, int i)
{
    const bool *exchanged = p->l->exchanged;

    axe_putf(p->out, "    %s%s *%s%s = ptr[%d];\n",
             t->dir == AXE_DIR_IN ? "const " : "", axe_c_element(t->type),
             exchanged && exchanged[t->id] ? "" : "restrict ",
             axe_c_name(p->cx, "t", t->name), i);
}

static void
put_params(axe_cprinter *p)
{
    const axe_kernel *k = p->l->plan->kernel;

    for (int i = 0; i < k->n_size; i++)
        if (k->size[i]->is_fixed)
            axe_putf(p->out, "    const i64 %s = %" PRId64 ";\n",
                     axe_c_var(p, k->size[i]), k->size[i]->fixed);
        else
            axe_putf(p->out, "    const i64 %s = size[%d];\n",
                     axe_c_var(p, k->size[i]), i);
    for (int i = 0; i < k->n_param; i++)
        put_global(p, k->param[i], i);
    for (int i = 0; i < k->n_temp; i++)
        put_global(p, k->temp[i], k->n_param + i);
    for (int i = 0; i < p->l->plan->n_place; i++) {
        const axe_place *pl = &p->l->plan->place[i];
        if (pl->tensor && pl->tensor->rank == 0)
            axe_putf(p->out, "    %s %s[1];\n", axe_c_element(pl->type),
                     axe_c_name(p->cx, "t", pl->tensor->name));
        else if (pl->tensor)
            axe_putf(p->out,
                     "    %s *restrict %s = (void *)((char *)scratch + %" PRId64
                     "); /* %s : %s */\n",
                     axe_c_element(pl->type),
                     axe_c_name(p->cx, "t", pl->tensor->name), pl->offset,
                     axe_type_table[pl->type].name,
                     axe_layout_text(p->cx, pl->layout));
    }
}

static const char head[] =
    "typedef float f32;\ntypedef double f64;\ntypedef long long i64;\n"
    "typedef int i32;\ntypedef short i16;\ntypedef signed char i8;\n"
    "typedef unsigned long long u64;\n"
    "typedef unsigned u32;\ntypedef unsigned short u16;\n"
    "typedef unsigned char u8;\n"
    "typedef i32 i32_word __attribute__((aligned(1), may_alias));\n"
    "typedef i64 i64_word __attribute__((aligned(1), may_alias));\n"
    "static inline i64 axe_min(i64 a, i64 b) { return a < b ? a : b; }\n"
    "static inline i64 axe_max(i64 a, i64 b) { return a > b ? a : b; }\n"
    "static inline i64 axe_div(i64 a, i64 b)\n"
    "{\n    return b ? a / b - (a % b != 0 && (a % b < 0) != (b < 0)) : 0;\n}\n"
    "static inline i64 axe_mod(i64 a, i64 b) { return a - axe_div(a, b) * b; "
    "}\n";

/* Entities that a worker has, in their order, of which it looks at number `at`:
 * those that it put aside, then one that nobody has had.  A worker that must
 * wait for all of them rests; with one worker none waits. */
static const char list_text[] =
    "typedef struct axe_list { i64 held[8]; int n, at, more, idle; } "
    "axe_list;\n"
    "static inline i64 axe_next(axe_list *l, i64 *next, i64 end, void *team)\n"
    "{\n"
    "    if (l->at == l->n && l->n < 8 && l->more) {\n"
    "        i64 i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);\n"
    "        if (i < end)\n"
    "            l->held[l->n++] = i;\n"
    "        else\n"
    "            l->more = 0;\n"
    "    }\n"
    "    if (l->n == 0)\n"
    "        return -1;\n"
    "    if (l->at == l->n) {\n"
    "        l->at = 0;\n"
    "        if (++l->idle > 64)\n"
    "            (*((void (**)(void *))team + 1))(team);\n"
    "    }\n"
    "    return l->held[l->at];\n"
    "}\n"
    "static inline void axe_off(axe_list *l)\n"
    "{\n"
    "    for (l->n--; l->at < l->n; l->at++)\n"
    "        l->held[l->at] = l->held[l->at + 1];\n"
    "    l->at = l->idle = 0;\n"
    "}\n";

/* The body of one kernel's function. */
static axe_status
put_entry(axe_cprinter *p, const axe_c_entry *e, axe_buf *out)
{
    p->l = e->lowered;
    p->branch = e->branch;
    p->side = e->side;
    p->declared = axe_new_array(p->cx, bool, p->l->n_reg + 1);
    p->out = out;
    axe_putf(out,
             "\n%svoid %s(void *const *ptr, const i64 *size, i64 worker, "
             "i64 workers, void *scratch, void *team)\n{\n",
             e->local ? "static " : "", e->name);
    put_params(p);
    AXE_TRY(put_block(p, &p->l->body, 1));
    axe_puts(out, "}\n");
    return AXE_OK;
}

axe_status
axe_print_c_unit(axe_ctx *cx, int n, const axe_c_entry *entry, axe_buf *out)
{
    axe_buf       body = {.cx = cx}, fn = {.cx = cx};
    axe_cprinter *p = axe_new(cx, axe_cprinter);

    *p = (axe_cprinter){.cx = cx};
    for (int i = 0; i < n; i++)
        AXE_TRY(put_entry(p, &entry[i], &body));
    axe_c_put_helpers(p, &fn);
    axe_puts(out, head);
    if (p->n_list > 0)
        axe_puts(out, list_text);
    axe_c_put_types(p, out);
    if (fn.text)
        axe_puts(out, fn.text);
    axe_puts(out, body.text ? body.text : "");
    return AXE_OK;
}

void
axe_print_c_target(axe_buf *c, const axe_machine *mc, bool begin)
{
    axe_buf     list = {.cx = c->cx};
    const char *word = mc->features;

    while (*word) {
        size_t n = strcspn(word, " ");
#define X86(name, one, two, three)                                             \
    if (strlen(name) == n && strncmp(word, name, n) == 0)                      \
        axe_puts(&list, list.len ? "," one "," two "," three                   \
                                 : one "," two "," three);
#define ARM(name)
#include "machine/cpu/features.def"
        word += n + strspn(word + n, " ");
    }
    if (list.len > 0 && begin)
        axe_putf(c,
                 "#ifdef __clang__\n#pragma clang attribute "
                 "push(__attribute__((target(\"%s\"))), apply_to = function)\n"
                 "#else\n#pragma GCC push_options\n"
                 "#pragma GCC target(\"%s\")\n#endif\n",
                 list.text, list.text);
    if (list.len > 0 && !begin)
        axe_puts(c, "#ifdef __clang__\n#pragma clang attribute pop\n#else\n"
                    "#pragma GCC pop_options\n#endif\n");
}

axe_status
axe_print_c(axe_ctx *cx, const axe_lowered *l, axe_buf *out)
{
    axe_putf(out, "/* %s for %s, made by axe %s */\n", l->plan->kernel->name,
             l->plan->machine->name, AXE_VERSION);
    return axe_print_c_unit(
        cx, 1, &(axe_c_entry){.lowered = l, .name = "axe_entry"}, out);
}

axe_status
axe_print_c_side(axe_ctx *cx, const axe_lowered *l, int side, axe_buf *out)
{
    axe_c_entry e = {.lowered = l,
                     .name = "axe_entry",
                     .branch = axe_lowered_branch(l),
                     .side = side};

    axe_putf(out, "/* %s for %s, side %d, made by axe %s */\n",
             l->plan->kernel->name, l->plan->machine->name, side, AXE_VERSION);
    return axe_print_c_unit(cx, 1, &e, out);
}
