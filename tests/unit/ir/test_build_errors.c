/* test_build_errors.c - every wrong use of the builder is a diagnostic with the
 * call's label. */
#include "build_calls.h"

/* ------------------------------------------------------------------ errors */

/* What every row below begins with. */
typedef struct start {
    axe_ctx     *cx;
    axe_builder *b, *other;
    expr         N, m, foreign;
    tensor       x, y, alien;
    expr         xm, ym; /* X[m], Y[m] */
} start;

typedef void misuse(start *s);

static start
begin(axe_ctx *cx)
{
    start s = {.cx = cx};

    s.other = axe_build_kernel(cx, "other");
    s.foreign = axe_build_size(s.other, "Q");
    s.alien = axe_build_param(s.other, "in", "f32", "Z", 1, &s.foreign, NULL);
    s.b = axe_build_kernel(cx, "k");
    s.N = axe_build_size(s.b, "N");
    s.m = axe_build_index(s.b, "m");
    s.x = axe_build_param(s.b, "in", "f32", "X", 1, &s.N, NULL);
    s.y = axe_build_param(s.b, "out", "f32", "Y", 1, &s.N, NULL);
    s.xm = at1(s.b, s.x, s.m);
    s.ym = at1(s.b, s.y, s.m);
    axe_build_label(s.b, "wrong");
    return s;
}

#define CASE(name, body)                                                       \
    static void name(start *s)                                                 \
    {                                                                          \
        axe_builder *b = s->b;                                                 \
        (void)b;                                                               \
        body                                                                   \
    }

CASE(null_value, axe_build_assign(b, s->ym, "=", NULL);)
CASE(null_place, axe_build_assign(b, NULL, "=", s->xm);)
CASE(null_op, axe_build_assign(b, s->ym, NULL, s->xm);)
CASE(null_tensor, axe_build_load(b, NULL, 1, &s->m);)
CASE(null_subscript, axe_build_load(b, s->x, 1, NULL);)
CASE(null_name, axe_build_size(b, NULL);)
CASE(null_type, axe_build_cast(b, NULL, s->xm);)
CASE(null_fold, axe_build_reduce(b, NULL, 1, &s->m, s->xm);)
CASE(null_ring, axe_build_produce(b, NULL);)
CASE(null_extent, axe_build_tile(b, "reg", "f32", "t", 1, NULL, NULL);)
CASE(null_attribute, axe_build_attribute(b, NULL, NULL);)
CASE(foreign_expr, axe_build_binary(b, "+", s->N, s->foreign);)
CASE(foreign_tensor, at1(b, s->alien, s->m);)
CASE(assign_value, axe_build_assign(b, s->ym, "=", s->N);)
CASE(assign_size, axe_build_assign(b, s->N, "=", s->xm);)
CASE(assign_op, axe_build_assign(b, s->ym, "maxx=", s->xm);)
CASE(op_unknown, axe_build_unary(b, "expp", s->xm);)
CASE(op_binary, axe_build_binary(b, "<<<", s->m, s->m);)
CASE(op_types,
     axe_build_assign(b, s->ym, "=", axe_build_binary(b, "+", s->xm, s->m));)
CASE(name_twice, axe_build_size(b, "X");)
CASE(name_type, axe_build_index(b, "f32");)
CASE(name_dot, axe_build_index(b, "a.b");)
CASE(type_near, axe_build_float(b, "f33", 1);)
CASE(type_int, axe_build_float(b, "i32", 1);)
CASE(value_range, axe_build_int(b, "i8", 128);)
CASE(rank_wrong, axe_build_load(b, s->x, 2, (expr[]){s->m, s->m});)
CASE(break_alone, axe_build_break(b);)
CASE(rank_limit,
     axe_build_tile(b, "reg", "f32", "t", 17, (int64_t[]){1, 1, 1}, NULL);)
CASE(extent_zero,
     axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){0}, NULL);)
CASE(extent_huge,
     axe_build_tile(b, "reg", "f32", "t", 2, (int64_t[]){INT64_MAX, 2}, NULL);)
CASE(space_near,
     axe_build_tile(b, "shard", "f32", "t", 1, (int64_t[]){4}, NULL);)
CASE(param_extent, axe_build_param(b, "in", "f32", "W", 1, &s->m, NULL);)
CASE(param_zero, expr zero = integer(b, 0);
     axe_build_param(b, "in", "f32", "W", 1, &zero, NULL);)
CASE(param_dir, axe_build_param(b, "inn", "f32", "W", 1, &s->N, NULL);)
CASE(param_order, axe_build_param(b, "in", "f32", "W", 1, &s->N, "R");)
CASE(scope_near, axe_build_scope(b, "ctta", 1, &(axe_ir_range){"i", s->N, 4},
                                 (expr[1]){0});)
CASE(scope_ranges, axe_build_scope(b, "cta", 0, NULL, NULL);)
CASE(range_by, axe_build_for(b, (axe_ir_range){"i", s->N, -4});)
CASE(range_zero, axe_build_for(b, (axe_ir_range){"i", integer(b, 0), 0});)
CASE(range_count, axe_build_for(b, (axe_ir_range){"i", NULL, 4});)
CASE(end_none, axe_build_end(b);)
CASE(else_none, axe_build_else(b);)
CASE(else_twice, axe_build_if(b, axe_build_binary(b, "<", s->N, s->N));
     axe_build_else(b); axe_build_else(b);)
CASE(if_value, axe_build_if(b, s->N); axe_build_end(b);)
CASE(select_value, axe_build_select(b, s->N, s->xm, s->xm);)
CASE(open_left, axe_build_for(b, (axe_ir_range){"i", s->N, 4});)
CASE(ring_stages, axe_build_pipeline(b, "ring", 0);)
CASE(ring_empty, axe_build_pipeline(b, "ring", 1); axe_build_end(b);)
CASE(ring_body, axe_build_pipeline(b, "ring", 1);
     axe_build_assign(b, s->ym, "=", s->xm);)
CASE(stage_twice, axe_ir_pipeline *p = axe_build_pipeline(b, "ring", 1);
     axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_end(b); axe_build_produce(b, p); axe_build_consume(b, p);)
CASE(attribute_near, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "slo", NULL);)
CASE(attribute_first, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "viaa", NULL);)
CASE(attribute_alone, axe_build_attribute(b, "slow", NULL);)
CASE(attribute_value, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "slow", "1");)
CASE(attribute_number, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "prefetch", "x");)
CASE(attribute_range, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "tile", "0, 2");)
CASE(attribute_missing, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "via", NULL);)
CASE(global_rank, axe_build_global(b, "f32", "G", 0, NULL);)
CASE(global_extent, axe_build_global(b, "f32", "G", 2, (expr[]){s->N, s->m});)
CASE(global_zero, expr zero = integer(b, 0);
     axe_build_global(b, "f32", "G", 1, &zero);)
CASE(loop_open, axe_build_loop(b);)
CASE(race_cta, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_assign(b, s->ym, "=", s->xm); axe_build_end(b);)
CASE(from_alone, axe_build_from(b, 1, (int64_t[]){1});)
CASE(key_alone, axe_build_key(b, "threads", 32);)
CASE(key_near, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_key(b, "thread", 32);)
CASE(key_twice, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_key(b, "threads", 32); axe_build_key(b, "threads", 32);)
CASE(key_value, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_key(b, "registers", 20);)
CASE(roles_alone, axe_build_roles(b); axe_build_end(b);)
CASE(turn_alone, axe_build_turn(b); axe_build_end(b);)
CASE(copies_reg,
     tensor t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_copies(b, t, 2);)
CASE(copies_param, axe_build_copies(b, s->y, 2);)
CASE(fill_param, axe_build_fill(b, s->y, axe_build_float(b, "f32", 0));)
CASE(fold_index, axe_build_reduce(b, "sum", 1, &s->N, s->xm);)
CASE(fold_none, axe_build_reduce(b, "sum", 0, NULL, s->xm);)
CASE(extent_unknown, axe_build_assign(b, at1(b, s->y, integer(b, 0)),
                                      "+=", axe_build_cast(b, "f32", s->m));)
CASE(right_only, axe_build_assign(b, at1(b, s->y, integer(b, 0)), "=", s->xm);)
CASE(write_twice, expr i = axe_build_index(b, "i");
     axe_build_assign(b, at1(b, s->y, axe_build_binary(b, "+", s->m, i)), "=",
                      axe_build_binary(b, "*", s->xm, at1(b, s->x, i)));)
CASE(tile_outside,
     tensor t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_assign(b, at1(b, t, integer(b, 4)), "=",
                      axe_build_float(b, "f32", 0));)
CASE(gone, expr i = axe_build_for(b, (axe_ir_range){"i", s->N, 4});
     axe_build_end(b);
     axe_build_assign(b, at1(b, s->y, axe_build_tiled(b, i, 4, s->m)), "=",
                      at1(b, s->x, axe_build_tiled(b, i, 4, s->m)));)
CASE(gone_tile, axe_build_for(b, (axe_ir_range){"i", s->N, 4});
     tensor t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_end(b); axe_build_fill(b, t, axe_build_float(b, "f32", 0));)
CASE(layout_size, const axe_layout *l;
     axe_status st = axe_layout_read(s->cx, "(8) : (1)", &l);
     assert_int_equal(st, AXE_OK);
     axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, l);)
CASE(
    deep, char name[16]; for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "loop%d", i);
        axe_build_for(b, (axe_ir_range){name, s->N, 0});
    })
CASE(bomb, expr e = s->xm;
     for (int i = 0; i < 70; i++) e = axe_build_binary(b, "+", e, e);)
CASE(after_finish, const axe_kernel *k; axe_build_assign(b, s->ym, "=", s->xm);
     assert_int_equal(axe_build_finish(b, &k), AXE_OK);
     axe_build_label(b, "late"); axe_build_assign(b, s->ym, "=", s->xm);)
CASE(unlabelled, axe_build_label(b, NULL); axe_build_end(b);)

#define AT "at builder call `wrong`: error: "

/* clang-format off */
static const struct {
    misuse     *fn;
    const char *want;
} misuse_rows[] = {
    {null_value, AT "the value is NULL\n"},
    {null_place, AT "the destination is NULL\n"},
    {null_op, AT "`(null)` is no assignment\n"},
    {null_tensor, AT "the tensor is NULL\n"},
    {null_subscript, AT "`X` has 1 dimensions, but 0 subscripts are given\n"},
    {null_name, AT "`(null)` is not a name: a letter or `_`, then letters, digits and `_`\n"},
    {null_type, AT "`(null)` is no type\n"},
    {null_fold, AT "`(null)` is no fold\n"},
    {null_ring, AT "the pipeline is NULL\n"},
    {null_extent, AT "`t` has no extents\n"},
    {null_attribute, AT "`(null)` is no attribute of a statement\n"},
    {foreign_expr, AT "an operand belongs to the builder of `other`, not of `k`\n"},
    {foreign_tensor, AT "tensor `Z` belongs to the builder of `other`, not of `k`\n"},
    {assign_value, AT "`Y[m]` is f32, but the value is i64\n"},
    {assign_size, AT "only elements of tensors are assigned, not `N`\n"},
    {assign_op, AT "`maxx=` is no assignment\n  help: did you mean `max=`?\n"},
    {op_unknown, AT "`expp` is no operation of one value\n  help: did you mean `exp`?\n"},
    {op_binary, AT "`<<<` is no operation of two values\n  help: did you mean `<<`?\n"},
    {op_types, AT "`X[m] + m` (f32) needs operands of its own type\n"},
    {name_twice, AT "`X` is declared already\n  at builder call 4: note: here\n"},
    {name_type, AT "`f32` is a name of the language\n"},
    {name_dot, AT "`a.b` is not a name: a letter or `_`, then letters, digits and `_`\n"},
    {type_near, AT "`f33` is no type\n  help: did you mean `f32`?\n"},
    {type_int, AT "i32 is not a floating type\n"},
    {value_range, AT "128 is not a value of i8\n"},
    {rank_wrong, AT "`X` has 1 dimensions, but 2 subscripts are given\n"},
    {rank_limit, AT "`t` has 17 dimensions; it must have 0 to 16\n"},
    {extent_zero, AT "extent 0 of `t` is 0; it must be at least 1\n"},
    {extent_huge, AT "`t` has too many elements for 64-bit addresses\n"},
    {space_near, AT "`shard` is no space of a tile\n  help: did you mean `shared`?\n"},
    {param_extent, AT "extent `m` of `W` is neither a size nor a positive integer\n"},
    {param_zero, AT "extent `0` of `W` is neither a size nor a positive integer\n"},
    {param_dir, AT "`inn` is no direction of an argument\n  help: did you mean `in`?\n"},
    {param_order, AT "`R` is no order\n"},
    {scope_near, AT "`ctta` is no scope\n  help: did you mean `cta`?\n"},
    {scope_ranges, AT "a scope has 1 to 16 ranges, not 0\n"},
    {range_by, AT "range `i` counts N by -4; both must be at least 1\n"},
    {range_zero, AT "range `i` counts 0 by 0; both must be at least 1\n"},
    {range_count, AT "a range's count is NULL\n"},
    {end_none, AT "there is no block to close\n"},
    {else_none, AT "the innermost open block is no branch of an `if` that could have an `else`\n"},
    {else_twice, AT "the innermost open block is no branch of an `if` that could have an `else`\n"},
    {if_value, "at builder call 2: error: `N` (i64) needs to be a condition\n"},
    {select_value, AT "`N` (i64) is not a condition\n"},
    {open_left, AT "a block is still open\n  at builder call `wrong`: note: begun here\n  help: close it by axe_build_end\n"},
    {ring_stages, AT "a pipeline has 1 to 1024 stages, not 0\n"},
    {ring_empty, AT "pipeline `ring` has no stages or no tensors\n"},
    {ring_body, AT "a pipeline's block holds tiles, nothing else\n  help: close pipeline `ring` by axe_build_end\n"},
    {stage_twice, AT "this is inside `produce ring` already\n"},
    {attribute_near, AT "`slo` is no attribute of a statement\n  help: did you mean `slow`?\n"},
    {attribute_first, AT "`viaa` is no attribute of a statement\n  help: did you mean `via`?\n"},
    {attribute_alone, AT "`slow` belongs to an index statement, and none was just made\n"},
    {attribute_value, AT "`slow` takes no value\n"},
    {attribute_number, AT "`prefetch` is given by 1 number, not by `x`\n"},
    {attribute_range, AT "`tile` is from 1 to 64, not 0\n"},
    {attribute_missing, AT "`via` needs a value\n"},
    {global_rank, AT "`G` has 0 dimensions; it must have 1 to 16\n"},
    {global_extent, AT "`m` cannot be an extent of `G`\n"},
    {global_zero, AT "extent `0` of `G` is neither a size nor a positive integer\n"},
    {break_alone, AT "there is no loop to leave here\n"},
    {loop_open, AT "a block is still open\n"},
    {race_cta, "at builder call 7: error: `Y[m]` is written by more than one cta: it does not tell `i`\n"},
    {from_alone, AT "first entities belong to a scope just opened"},
    {key_alone, AT "`threads` belongs to a scope just opened\n"},
    {key_near, AT "`thread` is no key of a scope\n  help: did you mean `threads`?\n"},
    {key_twice, AT "`threads` is given twice\n"},
    {key_value, AT "`registers` is from 24 to 256 in steps of 8, not 20\n"},
    {roles_alone, AT "`roles` stands in a cta, whose threads they divide\n"},
    {turn_alone, AT "`turn` stands in a scope of a cta, whose entities take "
                    "turns\n"},
    {copies_reg, AT "`t` has no 2 copies: it must be shared, with its layout open, and that not said before\n"},
    {copies_param, AT "`Y` has no 2 copies"},
    {fill_param, AT "`Y` is an argument, not a tile\n"},
    {fold_index, AT "`N` is not an index\n"},
    {fold_none, AT "a fold has 1 to 16 indices, not 0\n"},
    {extent_unknown, "at builder call 3: error: how far `m` runs is not known\n"},
    {right_only, "at builder call 3: error: index `m` is on the right of `=` only\n"},
    {write_twice, AT "`Y[m + i]` is one element for m = 0, i = 1 and m = 1, i = 0, and would be written twice\n"},
    {tile_outside, AT "`4` is outside dimension 0 of `t`, which has 4 elements\n"},
    {gone, AT "`i` is not in scope\n"},
    {gone_tile, AT "tensor `t` is not in scope\n"},
    {layout_size, AT "this layout does not fit `t`: "},
    {deep, AT "blocks nest at most 100 deep\n"},
    {bomb, AT "this expression has more than 2000 operations\n"},
    {after_finish, "at builder call `late`: error: kernel `k` is finished\n"},
    {unlabelled, "at builder call 8: error: there is no block to close\n"},
};
/* clang-format on */

static void
test_misuse(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(misuse_rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        start             s = begin(cx);
        const char       *want = misuse_rows[i].want, *got;
        const axe_kernel *k = NULL;
        misuse_rows[i].fn(&s);
        if (axe_build_finish(s.b, &k) == AXE_OK || k)
            failed++;
        got = said(cx);
        if (strncmp(got, want, strlen(want)) != 0) {
            print_error("row %d\n  want: %s\n  got:  %s\n", i, want, got);
            failed++;
        }
        assert_int_equal(axe_build_status(s.b), axe_build_finish(s.b, &k));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* One error only, however many calls follow. */
static void
test_sticky(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    start    s = begin(cx);

    (void)state;
    axe_build_end(s.b);
    axe_build_end(s.b);
    assert_null(axe_build_index(s.b, "q"));
    assert_null(axe_build_size(s.b, "X"));
    axe_build_assign(s.b, NULL, NULL, NULL);
    assert_int_equal(axe_n_error(cx), 1);
    assert_int_equal(axe_build_status(s.b), AXE_EARG);
    axe_ctx_free(cx);
}

/* No builder at all is an error without a place. */
static void
test_no_builder(void **state)
{
    const axe_kernel *k = NULL;

    (void)state;
    assert_null(axe_build_kernel(NULL, "k"));
    axe_build_label(NULL, "x");
    assert_null(axe_build_size(NULL, "N"));
    axe_build_end(NULL);
    assert_int_equal(axe_build_finish(NULL, &k), AXE_EARG);
    assert_null(k);
}

/* The planner's refusals carry the label, too. */
static void
test_plan_label(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    start              s = begin(cx);
    const axe_kernel  *k;
    const axe_program *p;

    (void)state;
    axe_build_label(s.b, "store_y");
    axe_build_assign(s.b, s.ym, "=", s.xm);
    axe_build_attribute(s.b, "via", "contract");
    assert_int_equal(axe_build_finish(s.b, &k), AXE_OK);
    assert_int_not_equal(
        axe_compile_kernel(cx, k, "cpu-base", AXE_STAGE_PLAN, &p), AXE_OK);
    assert_non_null(strstr(said(cx), "at builder call `store_y`: error: "));
    assert_int_equal(axe_compile_kernel(cx, NULL, NULL, AXE_STAGE_PLAN, &p),
                     AXE_EARG);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_no_builder),
        cmocka_unit_test(test_plan_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
