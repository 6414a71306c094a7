/* test_mesh.c - meshes, spreads and plans by table; and that a plan for a
 * million devices takes below a millisecond. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "axe/engine.h"

static int n_wrong;

/* "=text" is what is printed; else "CODE message", its beginning. */
static void
expect(axe_ctx *cx, axe_status st, const char *got, const char *want,
       const char *what)
{
    const char *text =
        st == AXE_OK
            ? axe_textf(cx, "=%s", got)
            : axe_textf(cx, "%s %s", axe_status_name(st), axe_last_error(cx));

    if (strncmp(text, want, strlen(want)) != 0 ||
        (*want == '=' && strcmp(text, want) != 0)) {
        print_message("%s: %s, wanted %s\n", what, text, want);
        n_wrong++;
    }
}

/* clang-format off */
static const struct { const char *text, *want; } meshes[] = {
    {"x=4", "=x=4"},
    {" x = 4 , y=2 ", "=x=4, y=2"},
    {"node=2@far, gpu=8", "=node=2 @ far, gpu=8"},
    {"a=2, b=3; order b, a", "=a=2, b=3; order b, a"},
    {"a=2, b=3; order a, b", "=a=2, b=3"},
    {"a=1, b=3; order b, a", "=a=1, b=3; order b, a"},
    {"x=2 @ ib; ib: 2.5us, 25GB/s", "=x=2 @ ib; ib: 2500ns, 25GB/s"},
    {"x=2; near: 1us, 1.5kB/s", "=x=2; near: 1us, 1500B/s"},
    {"x=2; far: 1us, 1TB/s", "=x=2"},
    {"x=2 @ a, y=2 @ b; a: 1us, 2GB/s; b: 1ms, 1MB/s", "=x=2 @ a, y=2 @ b; b: 1ms, 1MB/s; a: 1us, 2GB/s"},
    {"x=1099511627776", "=x=1099511627776"},
    {"", "ESYNTAX mesh: expected the name of an axis, but the text ends"},
    {"x", "ESYNTAX mesh: expected '=', but the text ends"},
    {"x=a", "ESYNTAX mesh: expected how many devices, but found 'a'"},
    {"x=0", "ESHAPE mesh: an axis has at least one device"},
    {"x=2,x=3", "ENAME mesh: two axes of one name"},
    {"m=2", "ENAME mesh: m and gpuid are what all devices have"},
    {"x=2 @ 3", "ESYNTAX mesh: expected the name of a link, but found '3'"},
    {"x=2 @ ib", "ENAME mesh: link ib is not described: add '; ib: 2us, 50GB/s'"},
    {"x=2, y=2; order x", "ESHAPE mesh: the order names all axes, slow to fast"},
    {"x=2; order z", "ENAME mesh: no such axis"},
    {"x=2, y=2; order x, x", "ENAME mesh: an axis twice in its order"},
    {"x=2; order x; order x", "ESYNTAX mesh: expected ':' behind a link, but found 'x'"},
    {"x=2; near: 1s, 1B/s", "ESYNTAX mesh: expected ns, us or ms, but found 's'"},
    {"x=2; near: 1us, 1Gb/s", "ESYNTAX mesh: expected B/s, kB/s, MB/s, GB/s or TB/s, but found 'Gb'"},
    {"x=2; near: 1us, 0B/s", "ESHAPE mesh: a bandwidth is above 0"},
    {"x=2; near: 0.5ns, 1B/s", "ELIMIT mesh: a number from 0 on, of whole ns or B/s"},
    {"x=2; near: -1ns, 1B/s", "ELIMIT mesh: a number from 0 on, of whole ns or B/s"},
    {"x=2; near: 1us, 1B/s; near: 1us, 1B/s", "ENAME mesh: a link is described twice"},
    {"x=2; near: 1.0000000000001us, 1B/s", "ELIMIT mesh: too many decimals"},
    {"x=1099511627777", "ELIMIT mesh: more than 2^40 devices"},
    {"x=1048576, y=1048577", "ELIMIT mesh: more than 2^40 devices"},
    {"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,n=1,o=1,p=1,q=1,r=1", "ELIMIT mesh: more than 16 axes"},
    {"x=2 y=2", "ESYNTAX mesh: expected the end of the text, but found 'y'"},
    {"x=99999999999999999999", "EOVERFLOW mesh: a number leaves int64"},
};

/* Over x=4, y=2. */
static const struct { const char *text, *want; } spreads[] = {
    {"24", "=(24) : (1) + [(4, 2) : (2@gpuid, 1@gpuid)]"},
    {"24@x", "=((4, 6)) : ((2@gpuid, 1)) + [2 : 1@gpuid]"},
    {"24@(y, x), 3", "=((2, 4, 3), 3) : ((1@gpuid, 2@gpuid, 3), 1)"},
    {"10@x at y=1", "=((4, 3)) : ((2@gpuid, 1)) + 1@gpuid of (10)"},
    {"8 at x=3, y=1", "=(8) : (1) + 7@gpuid"},
    {"8, 3@y + partial(x)", "=(8, (2, 2)) : (2, (1@gpuid, 1)) of (8, 3) + partial [4:2]"},
    {"(4, 2) : (2@gpuid, 1) of (4, 2) + partial [2:1]", "=(4, 2) : (2@gpuid, 1) + partial [2:1]"},
    {"(4, 2) : (1@x, 1@y)", "=(4, 2) : (1@x, 1@y)"},
    {"24@(x+1)", "=((4, 6)) : ((2@gpuid, 1)) + [2 : 1@gpuid] + turn [4:2*1+1]"},
    {"8@(3*x + 6, y), 3", "=((4, 2, 1), 3) : ((2@gpuid, 1@gpuid, 3), 1) + turn [4:2*3+2]"},
    {"24@(1*x+4)", "=((4, 6)) : ((2@gpuid, 1)) + [2 : 1@gpuid]"},
    {"7@(x+3) + partial(y)", "=((4, 2)) : ((2@gpuid, 1)) of (7) + turn [4:2*1+3] + partial [2:1]"},
    {"(4, 2) : (2@gpuid, 1) of (4, 1) + turn [4:2*3+1]", "=(4, 2) : (2@gpuid, 1) of (4, 1) + turn [4:2*3+1]"},
    {"24@(x+)", "ESYNTAX spread: expected how far devices turn, but found ')'"},
    {"24@(3x)", "ESYNTAX spread: expected '*', but found 'x'"},
    {"24@(x+-1)", "ESHAPE spread: devices turn by numbers from 0"},
    {"24@x+1", "ESYNTAX spread: expected 'partial', but found '1'"},
    {"(4) : (1@gpuid) + turn [4:1]", "ESYNTAX spread: expected '*', but found ']'"},
    {"(4) : (1@gpuid) + turn [4:0*1+1]", "ESHAPE spread: devices turn by numbers from 0"},
    {"(4) : (1@gpuid) + turn [4:1*1+1] + turn [4:1*1+1]", "ESYNTAX spread: expected 'partial' or 'turn', but found 'turn'"},
    {"", "ESYNTAX spread: expected an extent, but the text ends"},
    {"0", "ESHAPE spread: extents are at least 1"},
    {"8@", "ESYNTAX spread: expected an axis of the mesh, but the text ends"},
    {"8@z", "ENAME spread: the mesh has no such axis"},
    {"8@x, 8@x", "ESHAPE spread: an axis is taken twice"},
    {"8@(x, y", "ESYNTAX spread: expected ')', but the text ends"},
    {"8 at x", "ESYNTAX spread: expected '=', but the text ends"},
    {"8 at x=4", "ESHAPE spread: the axis has no such device"},
    {"8 + sum(x)", "ESYNTAX spread: expected 'partial', but found 'sum'"},
    {"8 + partial", "ESYNTAX spread: expected '(', but the text ends"},
    {"8 and", "ESYNTAX spread: expected the end of the text, but found 'and'"},
    {"(4) : (1@gpuid) of (5)", "ESHAPE spread: dimension 0 has extent 5; the layout has room for 1 to 4"},
    {"(4) : (1@gpuid) of (4, 1)", "ESHAPE spread: 2 extents for a layout of 1 dimensions"},
    {"(4) : (1@gpuid) + partial [0:1]", "ESHAPE spread: addends are at least 1, on devices 1 apart"},
    {"(4) : (1@gpu)", "ENAME"},
    {"4611686018427387904, 4", "EOVERFLOW"},
    {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "ELIMIT spread: more than 16 dimensions"},
};

/* Of shape 10, 8. */
static const struct { const char *mesh, *format, *text, *want; } foreign[] = {
    {"x=4, y=2", "jax", "P('x', 'y')", "=((4, 3), (2, 4)) : ((2@gpuid, 4), (1@gpuid, 1)) of (10, 8)"},
    {"x=4, y=2; order y, x", "jax", "P(None, ('x', 'y'))", "=(10, (4, 2)) : (1, (1@gpuid, 4@gpuid))"},
    {"x=4, y=2", "dtensor", "[P(sum), S(1)]", "=(10, (2, 4)) : (4, (1@gpuid, 1)) + partial [4:2]"},
    {"x=4, y=2", "dtensor", "[R, P(sum)]", "=(10, 8) : (8, 1) + [4 : 2@gpuid] + partial [2:1]"},
    {"x=4, y=2", "dtensor", "[S(0), S(0)]", "EUNSUPPORTED dtensor: no layout: uneven parts of parts"},
    {"x=4, y=2", "shardy", "#sdy.sharding<@m, [{\"x\":(1)2}, {}]>", "=((2, 5), 8) : ((4@gpuid, 8), 1) + [4 : 1@gpuid]"},
    {"x=4, y=2; order y, x", "dtensor", "[R, R]", "EUNSUPPORTED dtensor: axes of the mesh are meant as they are written"},
    {"x=4, y=2", "alpa", "S01R", "=((4, 2, 2), 8) : ((2@gpuid, 1@gpuid, 8), 1) of (10, 8)"},
    {"x=4, y=2", "jaxx", "P()", "ENAME there is no format 'jaxx' of shardings; did you mean 'jax'?"},
    {"x=4, y=2", "jax", "P('z')", "ENAME mesh: no axis 'z'"},
    {"x=8192", "jax", "P('x')", "EARG mesh: extents are from 1 to 4096"},
};

/* Steps as "kind over axes: state [gets/gives/all/messages]", with messages
 * free; a plan above its bound says so. */
static const struct { const char *mesh, *src, *dst, *want; } plans[] = {
    {"x=4", "24", "24@x", "=slice over x: 24@x [0/0/0/0]"},
    {"x=4", "24@x", "24@x", "="},
    {"x=4", "24@x", "24", "=all-gather over x: 24 [18/18/72/3]"},
    {"x=4", "24@x, 8", "24, 8@x", "=all-to-all over x: 24, 8@x [36/36/144/3]"},
    {"x=2, y=2", "24@x", "24@y", "=permute over x, y: 24@y [12/12/24/1]"},
    {"x=2, y=2", "8@x, 8@y", "8@y, 8@x", "=permute over x, y: 8@y, 8@x [16/16/32/1]"},
    {"x=4, y=2", "24@x, 24@y", "24@y, 24@x", "=exchange over x, y: 24@y, 24@x [72/72/432/2]"},
    {"x=4", "24 at x=1", "24", "=broadcast over x: 24 [24/24/72/2]"},
    {"x=4", "24 at x=1", "24@x", "=scatter over x: 24@x [6/18/18/1]"},
    {"x=4", "24@x", "24 at x=1", "=gather over x: 24 at x=1 [18/6/18/3]"},
    {"x=4", "24 at x=1", "24 at x=2", "=point-to-point over x: 24 at x=2 [24/24/24/1]"},
    {"x=4", "24", "24 at x=2", "=slice over x: 24 at x=2 [0/0/0/0]"},
    {"x=4", "24 + partial(x)", "24@x", "=reduce-scatter over x: 24@x [18/18/72/3]"},
    {"x=4", "24 + partial(x)", "24", "=all-reduce over x: 24 [36/36/144/6]"},
    {"x=4", "24 + partial(x)", "24 + partial(x)", "="},
    {"x=2, y=2", "24@y + partial(x)", "24 + partial(x)", "=all-gather over y: 24 + partial(x) [12/12/48/1]"},
    {"x=4", "10@x", "10", "=all-gather over x: 10 [9/9/30/3]"},
    {"x=2, y=3", "6@x", "6@y", "=exchange over x, y: 6@y [2/2/6/2]"},
    {"x=4", "(3, 4, 2) : (2, 1@gpuid, 1)", "24", "=all-gather over x: 24 [18/18/72/3]"},
    {"x=4", "(3, 4, 2) : (2, 1@gpuid, 1)", "24@x", "=all-to-all over x: 24@x [4/4/16/3]"},
    {"x=4", "(24) : (1) + [2 : 2@gpuid]", "24", "=broadcast over x:(2)2: 24 [24/24/48/1]"},
    {"x=1851, y=88", "24@x", "24@y", "=permute over x, y: 24@y [1/22/44400/1]"},
    {"x=2,y=2; order y, x", "8@x", "8@x at y=1", "=slice over y: 8@x at y=1 [0/0/0/0]"},
    {"x=4", "24@x", "24@(x+1)", "=permute over x: 24@(x+1) [6/6/24/1]"},
    {"x=4", "10@x", "10@(x+3)", "=permute over x: 10@(x+3) [3/3/10/1]"},
    {"x=5", "5@x, 3", "5@(4*x+4), 3", "=permute over x: 5@(4*x+4), 3 [3/3/12/1]"},
    {"x=4", "24@(x+1)", "24@(x+3)", "=permute over x: 24@(x+3) [6/6/24/1]"},
    {"x=4", "24@(x+1)", "24", "=all-gather over x: 24 [18/18/72/3]"},
    {"x=4", "24", "24@(x+1)", "=slice over x: 24@(x+1) [0/0/0/0]"},
    {"x=4", "24 + partial(x)", "24@(x+1)", "=reduce-scatter over x: 24@(x+1) [18/18/72/3]"},
    {"x=4", "24@x, 8", "24, 8@(x+2)", "=all-to-all over x: 24, 8@(x+2) [36/36/144/3]"},
    {"x=2, y=3", "12@(x, y)", "12@(x, y+1)", "=permute over y: 12@(x, y+1) [2/2/12/1]"},
    {"x=4, y=2", "24@x, 24@y", "24@(x+1), 24@(y+1)", "=permute over x, y: 24@(x+1), 24@(y+1) [72/72/576/1]"},
    {"x=8, y=2", "(2, 4) : (8@gpuid, 2@gpuid) + [2 : 1@gpuid]", "8@(x+4)", "=permute over x:(1)2: 8@(x:(1)2+1, x:(2)4) [1/1/16/1]"},
    {"node=2@far, gpu=8", "4096@(node, gpu), 4", "4096@(node+1), 4", "=permute over node: 4096@(node+1, gpu), 4 [1024/1024/16384/1]; all-gather over gpu: 4096@(node+1), 4 [7168/7168/114688/7]"},
    {"x=4, y=4", "8@x, 3", "8@(y+1), 3", "=permute over x, y: 8@(y+1), 3 [6/18/72/1]"},
    {"x=8", "(2, 4) : (4@gpuid, 1@gpuid)", "8@(x+1)", "EUNSUPPORTED reshard: 8 devices, 1 apart, are turned (1*x+1) and have to be cut in parts of 4"},
    {"x=4", "24@(2*x+1)", "24", "ESHAPE SRC: 2 times the number of a device, modulo 4, is the same for several"},
    {"x=16384", "32768@(3*x)", "32768", "ELIMIT SRC: 16384 devices are turned by a factor; up to 8192 are"},
    {"x=4", "(2, 2) : (2@gpuid, 1@gpuid) + turn [4:1*1+1]", "4", "EUNSUPPORTED SRC: 4 devices, 1 apart, are turned, and no iter of a dimension goes over just these"},
    /* on a part of the mesh: a digit of its devices' numbers */
    {"x=4", "(4, 2) : (1@gpuid, 1)", "(2, 4) : (1@gpuid, 1)", "=exchange over x: 8@x:(2)2 at x:(1)2=0 [4/2/6/2]"},
    {"x=4", "(2, 4) : (1@gpuid, 1)", "(4, 2) : (1@gpuid, 1)", "=exchange over x: 8@x [2/4/6/1]"},
    {"x=4", "(2, 4) : (1@gpuid, 1) + 2@gpuid", "(4, 2) : (1@gpuid, 1)", "=exchange over x: 8@x [2/4/6/1]"},
    {"x=4", "(2, 4) : (2@gpuid, 1) + 1@gpuid", "(2, 4) : (2@gpuid, 1)", "=point-to-point over x:(2)2: 2@x:(1)2, 4 at x:(2)2=0 [4/4/8/1]"},
    {"x=4", "(8) : (1) + [2 : 1@gpuid] + 2@gpuid", "8@x", "=exchange over x: 8@x [2/2/4/1]"},
    {"x=2, y=2", "8@x at y=1", "8@(x, y)", "=scatter over y: 8@(x, y) [2/2/4/1]"},
    {"x=4", "(2, 4) : (1@gpuid, 1) + 1@gpuid", "8@x", "EUNSUPPORTED SRC: its devices are shifted by 1 along iters that go over all of them"},
    {"x=4", "8@x", "(8) : (1) + [2 : 1@gpuid] + 1@gpuid", "EUNSUPPORTED DST: its devices are shifted by 1 along iters that go over all of them"},
    {"x=4", "(3, 4) : (1@gpuid, 1)", "12", "EUNSUPPORTED reshard: devices are cut at 3 and at 4, which are no digits of one number"},
    {"x=4", "24@x", "25@x", "ESHAPE reshard: SRC has 24 elements, DST 25"},
    {"x=4", "10@x", "5@x, 2", "ESHAPE reshard: SRC and DST have other dimensions, and one is rounded up"},
    {"x=4", "8", "8 + partial(x)", "EUNSUPPORTED DST asks for addends over devices 1 apart"},
    {"x=4", "(4) : (-1@gpuid) + 3@gpuid", "4", "EUNSUPPORTED SRC: (4 : -1@gpuid) runs through devices backwards"},
    {"x=4", "(8) : (1@gpuid)", "8", "ESHAPE SRC: (8 : 1@gpuid) leaves the 4 devices of the mesh"},
    {"x=4", "(2) : (2@gpuid) + 5@gpuid", "2", "ESHAPE SRC: offset 5@gpuid is no device of the 4 of the mesh"},
    {"x=4", "(4) : (1@gpuid) + 1@gpuid", "4", "EUNSUPPORTED SRC: its devices are shifted by 1 along iters that go over all of them"},
    {"x=4", "(2, 2) : (1@gpuid, 1@gpuid)", "4", "ESHAPE SRC: devices 1 apart are told apart twice"},
    {"x=6", "(2) : (1@gpuid) + [3 : 2@gpuid]", "(3) : (1@gpuid) + [2 : 3@gpuid] of (2)", "EUNSUPPORTED reshard: devices are cut at 2 and at 3, which are no digits of one number"},
};
/* clang-format on */

static void
test_meshes(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(meshes); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_mesh *m = NULL;
        axe_status      st = axe_mesh_read(cx, meshes[i].text, &m);

        expect(cx, st, st == AXE_OK ? axe_mesh_text(cx, m) : "", meshes[i].want,
               meshes[i].text);
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

static void
test_spreads(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(spreads); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_mesh *m;
        axe_spread      s, again;
        axe_status      st;
        const char     *text = "";

        assert_int_equal(axe_mesh_read(cx, "x=4, y=2", &m), AXE_OK);
        st = axe_spread_read(cx, m, spreads[i].text, &s);
        if (st == AXE_OK) {
            text = axe_spread_text(cx, &s);
            assert_int_equal(axe_spread_read(cx, m, text, &again), AXE_OK);
            assert_string_equal(axe_spread_text(cx, &again), text);
        }
        expect(cx, st, text, spreads[i].want, spreads[i].text);
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

static axe_status
plan(axe_ctx *cx, const char *mesh, const char *src, const char *dst,
     const axe_reshard_options *opt, const axe_reshard_plan **r)
{
    const axe_mesh *m;
    axe_spread      a, b;

    AXE_TRY(axe_mesh_read(cx, mesh, &m));
    AXE_TRY(axe_spread_read(cx, m, src, &a));
    AXE_TRY(axe_spread_read(cx, m, dst, &b));
    return axe_reshard(cx, m, &a, &b, opt, r);
}

static void
test_foreign(void **state)
{
    static const int64_t extent[] = {10, 8};

    (void)state;
    for (int i = 0; i < AXE_LEN(foreign); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_mesh *m;
        axe_spread      s;
        axe_status      st;

        assert_int_equal(axe_mesh_read(cx, foreign[i].mesh, &m), AXE_OK);
        st = axe_spread_convert(cx, m, foreign[i].format,
                                (axe_shape){2, extent}, foreign[i].text, &s);
        expect(cx, st, st == AXE_OK ? axe_spread_text(cx, &s) : "",
               foreign[i].want, foreign[i].text);
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

/* ------------------------------------------------------------- differences */

static const char *const alike[] = {
    "6, 10",
    "6@x, 10",
    "6@y, 10",
    "6, 10@x",
    "6, 10@y",
    "6@(x, y), 10",
    "6@(y, x), 10",
    "6@x, 10@y",
    "6@y, 10@x",
    "6, 10 at x=0",
    "6, 10 at x=1",
    "6, 10 at y=2",
    "6@x, 10 at y=1",
    "((2, 3), 10) : ((3@gpuid, 10), 1) + [3 : 1@gpuid]",
    "((3, 2), 10) : ((10, 3@gpuid), 1) + [3 : 1@gpuid]",
    "6@x, 10 + partial(y)",
    "6, 10 + partial(y)",
    "6, 10 + partial(x)",
};

/* Does the device hold an element of that index of the dimension? */
static bool
has_index(const axe_reshard_plan *p, bool behind, int64_t device, int dim,
          int64_t index)
{
    for (int64_t i = 0; i < 60; i++)
        for (int64_t a = 0; a < axe_reshard_addends(p); a++)
            if ((dim ? i % 10 : i / 10) == index &&
                axe_reshard_has(p, behind, device, i, a))
                return true;
    return false;
}

static bool
holds_alike(const axe_reshard_plan *p, int64_t device)
{
    for (int64_t i = 0; i < 60; i++)
        for (int64_t a = 0; a < axe_reshard_addends(p); a++)
            if (axe_reshard_has(p, false, device, i, a) !=
                axe_reshard_has(p, true, device, i, a))
                return false;
    return true;
}

static void
check_difference(const axe_reshard_plan *p, const axe_spread_difference *f)
{
    int64_t device = 0;

    while (device < 6 && holds_alike(p, device))
        device++;
    assert_int_equal(f->equal, device == 6);
    if (f->equal)
        return;
    assert_int_equal(f->device, device);
    assert_true(has_index(p, !f->first, device, f->dim, f->index));
    assert_false(has_index(p, f->first, device, f->dim, f->index));
}

/* By each device and element, of all pairs between which there is a way. */
static void
test_differ(void **state)
{
    int n_equal = 0, n_checked = 0, n_addends = 0;

    (void)state;
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
        for (size_t k = 0; k < sizeof alike / sizeof alike[0]; k++) {
            axe_ctx                *cx = axe_ctx_new();
            const axe_mesh         *m;
            const axe_reshard_plan *r;
            axe_spread              a, b;
            axe_spread_difference   f;

            assert_int_equal(axe_mesh_read(cx, "x=2, y=3", &m), AXE_OK);
            assert_int_equal(axe_spread_read(cx, m, alike[i], &a), AXE_OK);
            assert_int_equal(axe_spread_read(cx, m, alike[k], &b), AXE_OK);
            assert_int_equal(axe_spread_differ(cx, m, &a, &b, &f), AXE_OK);
            n_addends += f.addends;
            n_equal += f.equal;
            if (!f.addends && axe_reshard(cx, m, &a, &b, NULL, &r) == AXE_OK &&
                axe_reshard_addends(r) == 1) {
                n_checked++;
                check_difference(r, &f);
            }
            axe_ctx_free(cx);
        }
    assert_int_equal(n_equal, 20 /* one of them is written in two ways */);
    assert_int_equal(n_addends, 94);
    assert_int_equal(n_checked, 15 * 15);
}

/* What is missing, and what is no step or device. */
static void
test_misuse(void **state)
{
    axe_ctx                 *cx = axe_ctx_new();
    const axe_mesh          *m;
    const axe_reshard_plan  *r;
    const axe_layout *const *piece;
    axe_spread               s;
    axe_buf                  b = {.cx = cx};
    int                      n;

    (void)state;
    assert_int_equal(axe_mesh_read(cx, NULL, &m), AXE_EARG);
    assert_int_equal(axe_mesh_read(cx, "x=2", NULL), AXE_EARG);
    assert_int_equal(axe_mesh_read(cx, "x=4", &m), AXE_OK);
    assert_int_equal(axe_spread_read(cx, NULL, "4", &s), AXE_EARG);
    assert_int_equal(axe_spread_read(cx, m, NULL, &s), AXE_EARG);
    assert_int_equal(axe_spread_read(cx, m, "8@x", &s), AXE_OK);
    assert_int_equal(
        axe_spread_convert(cx, m, "jax", (axe_shape){1, NULL}, "P()", &s),
        AXE_EARG);
    assert_int_equal(axe_reshard(cx, m, &s, NULL, NULL, &r), AXE_EARG);
    assert_int_equal(
        axe_reshard(cx, m, &s, &s, &(axe_reshard_options){.bits = -1}, &r),
        AXE_EARG);
    assert_int_equal(plan(cx, "x=4", "8@x", "8", NULL, &r), AXE_OK);
    assert_int_equal(axe_reshard_sends(r, 0, 0, 1), 2);
    assert_int_equal(axe_reshard_sends(r, 1, 0, 1), -1);
    assert_int_equal(axe_reshard_sends(r, 0, 0, 4), -1);
    assert_int_equal(axe_reshard_source(r, 0, 3, 0, 0), 1);
    assert_int_equal(axe_reshard_source(r, 0, -1, 0, 0), -1);
    assert_int_equal(axe_reshard_pieces(cx, r, 0, 1, 0, &n, &piece), AXE_OK);
    assert_int_equal(n, 1);
    assert_string_equal(axe_layout_text(cx, piece[0]), "(2) : (1) + 2");
    assert_int_equal(axe_reshard_pieces(cx, r, 0, 1, 4, &n, &piece), AXE_EARG);
    assert_int_equal(plan(cx, "x=4", "8 at x=0", "8", NULL, &r), AXE_OK);
    assert_int_equal(axe_reshard_pieces(cx, r, 0, 0, 1, &n, &piece),
                     AXE_EUNSUPPORTED);
    assert_int_equal(axe_reshard_draw(cx, r, NULL), AXE_EARG);
    assert_int_equal(axe_reshard_svg(cx, NULL, &b), AXE_EARG);
    assert_string_equal(axe_collective_text((axe_collective)99), "unknown");
    axe_ctx_free(cx);
}

static const char *
steps_text(axe_ctx *cx, const axe_reshard_plan *r)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < r->n_step; i++) {
        const axe_reshard_step *s = &r->step[i];

        axe_putf(&b,
                 "%s%s over %s: %s [%" PRId64 "/%" PRId64 "/%" PRId64
                 "/%" PRId64 "]",
                 i ? "; " : "", axe_collective_text(s->kind), s->axes, s->after,
                 s->max_recv, s->max_send, s->total, s->messages);
    }
    return b.text ? b.text : "";
}

static void
test_plans(void **state)
{
    const axe_reshard_options opt = {.free = true};

    (void)state;
    for (int i = 0; i < AXE_LEN(plans); i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_reshard_plan *r = NULL;
        axe_status              st =
            plan(cx, plans[i].mesh, plans[i].src, plans[i].dst, &opt, &r);

        expect(cx, st, st == AXE_OK ? steps_text(cx, r) : "", plans[i].want,
               axe_textf(cx, "%s to %s", plans[i].src, plans[i].dst));
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

/* Copies for a while save a message, where there is room for them. */
static void
test_memory(void **state)
{
    axe_ctx                *cx = axe_ctx_new();
    axe_reshard_options     opt = {.bits = 32};
    const axe_reshard_plan *r;

    (void)state;
    assert_int_equal(plan(cx, "x=2, y=3", "6@x", "6@y", &opt, &r), AXE_OK);
    assert_string_equal(steps_text(cx, r), "all-gather over x: 6 [3/3/18/1]; "
                                           "slice over y: 6@y [0/0/0/0]");
    assert_non_null(r->why);
    opt.memory = 5;
    assert_int_equal(plan(cx, "x=2, y=3", "6@x", "6@y", &opt, &r), AXE_OK);
    assert_string_equal(steps_text(cx, r), "exchange over x, y: 6@y [2/2/6/2]");
    assert_null(r->why);
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct { const char *mesh, *src, *dst; int n_step; } million[] = {
    {"x=1024, y=1024", "16384@x, 16384@y", "16384@y, 16384@x", 1},
    {"x=1024, y=1024", "4194304@(x, y), 64", "4194304@(y, x), 64", 1},
    {"x=1024, y=1024", "16384@x, 16384@y", "16384@x, 16384", 1},
    {"x=1048576", "16777216@x", "16777216", 1},
    {"x=1048576", "16777215@x, 8", "16777215@x, 8", 0},
    {"x=1048576", "16777213@x", "16777213", 1},
    {"node=131072 @ far, gpu=8", "4194304 + partial(node, gpu)", "4194304", 3},
    {"a=64, b=128, c=128", "8192@a, 8192@b, 8192@c", "8192@c, 8192@a, 8192@b", 1},
    {"x=1024, y=1024", "1024000@x", "1024000@y", 1},
    {"x=1048576", "16777213@x", "16777213@(x+3)", 1},
    {"x=1024, y=1024", "16384@x, 16384@(y+1)", "16384@x, 16384@y", 1},
};
/* clang-format on */

static double
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The best of some runs, since others use the machine, too. */
static void
test_million(void **state)
{
    const axe_reshard_options opt = {.bits = 16};

    (void)state;
    for (int i = 0; i < AXE_LEN(million); i++) {
        double best = 1e9;
        int    n_step = -1;

        for (int k = 0; k < 20; k++) {
            axe_ctx                *cx = axe_ctx_new();
            const axe_reshard_plan *r;
            double                  at = now_us();

            assert_int_equal(plan(cx, million[i].mesh, million[i].src,
                                  million[i].dst, &opt, &r),
                             AXE_OK);
            at = now_us() - at;
            best = at < best ? at : best;
            n_step = r->n_step;
            assert_int_equal(r->mesh->n_device, 1048576);
            axe_ctx_free(cx);
        }
        print_message("%6.0f us, %d steps: %s to %s\n", best, n_step,
                      million[i].src, million[i].dst);
#if !defined(__SANITIZE_ADDRESS__) && !defined(AXE_STRESS)
        assert_true(best < 1000);
#endif
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),  cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_foreign), cmocka_unit_test(test_differ),
        cmocka_unit_test(test_misuse),  cmocka_unit_test(test_plans),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_million),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
