/* test_format.c - `axe fmt`: rows, and that every kernel of the library and of
 * the language page, also with its blanks thrown about, keeps its tokens, its
 * comments and its IR, and does not change when formatted again. */
#include <dirent.h>

#include "base/ctx.h"
#include "lang/syntax.h"
#include "texts.h"

static const char *
format(axe_ctx *cx, const char *text)
{
    axe_buf out = {.cx = cx};
    int32_t source = axe_source_add(cx, "test", text, strlen(text));

    if (axe_module_format(cx, source, &out) != AXE_OK)
        return axe_last_error(cx);
    return out.text ? out.text : "";
}

/* -------------------------------------------------------------------- rows */

#define K(body) "kernel k(out f32 Y[M])\n{\n" body "}\n"

/* clang-format off */
static const struct {
    const char *in, *want; /* NULL: as it was */
} rows[] = {
    {"", NULL},
    {"\xEF\xBB\xBF\n\n// only\r\n\r\n\r\n// this  \n\n", "// only\n\n// this\n"},
    {"kernel  k ( )  { }", "kernel k () { }\n"},
    {"kernel k(){}", "kernel k() {}\n"},
    {"const a=- 1+-2*(3- 4);const b=!true||a<=1&&a>0;",
     "const a = -1 + -2*(3 - 4); const b = !true || a <= 1 && a > 0;\n"},
    {"const a = 1 * 2*3 / 4%5;\n", NULL},
    {K("    cluster(2)cta persistent(t:tiles(M by 8,2,group=4,dynamic=D))\nwarps (W+1) registers 40{\nroles{\n"
       "warp(0)registers W\nY[0]=1;\nwarp (w:1..3)\n threads 2 {Y[1]=2;}\n}\n}\n"),
     K("    cluster (2) cta persistent (t : tiles(M by 8, 2, group = 4, dynamic = D))\n"
       "        warps (W + 1) registers 40 {\n        roles {\n"
       "            warp (0) registers W\n                Y[0] = 1;\n"
       "            warp (w : 1..3)\n                threads 2 { Y[1] = 2; }\n        }\n    }\n")},
    {"const a = 1\n* 2\n*3;\n", "const a = 1\n    * 2\n    *3;\n"},
    {"layout l=(8,2):(1@lane,-8)+[2:4]+5@warp;layout m=l|( 4,4 );",
     "layout l = (8, 2) : (1@lane, -8) + [2:4] + 5@warp; layout m = l | (4, 4);\n"},
    {"layout l = (2, 2) : (2, 1) >< (2, 2) : (2, 1);\n", NULL},
    {"kernel k<A=1,type T=f32>(in T X[M],\nout T Y[M])\ndefault cpu (A=2)\n"
     "tune A in { 1,2 }\n{\n}",
     "kernel k<A = 1, type T = f32>(in T X[M],\n    out T Y[M])\n"
     "    default cpu (A = 2)\n    tune A in {1, 2}\n{\n}\n"},
    {"fn accum(T) g< type T >(T x)\n{\nreturn x<2?x<x:0;\n}\nfn s<type  T>(T y[M])\n{\n"
     "while(row<end)\nrow+=y[m]<end?1:0;\n}\nfn l(f32 y[M]){if(a<b)y[0]=1;}\n",
     "fn accum(T) g<type T>(T x)\n{\n    return x < 2 ? x < x : 0;\n}\nfn s<type T>(T y[M])\n{\n"
     "    while (row < end)\n        row += y[m] < end ? 1 : 0;\n}\n"
     "fn l(f32 y[M]) { if (a < b) y[0] = 1; }\n"},
    {"fn f32 g<type T>(T x) { return x < 2 ? x : 0; }\n", NULL},
    {"kernel k<A = 1>\n        (out f32 Y[M])\n{\n}\n", NULL},
    {"kernel k<A = 1>(out f32 Y[M]) target cpu - avx512-bf16\n    default cpu- avx2 (A = 2 -1)\n{\n}\n",
     "kernel k<A = 1>(out f32 Y[M]) target cpu-avx512-bf16\n    default cpu-avx2 (A = 2 - 1)\n{\n}\n"},
    {"kernel k(out f32 Y[M]) target nvidia ,cpu - avx2,opencl-sg8\n{\n}\n",
     "kernel k(out f32 Y[M]) target nvidia, cpu-avx2, opencl-sg8\n{\n}\n"},
    {"fn f(f32 y[M]) { y[0] = g(x, y-1); }\n", "fn f(f32 y[M]) { y[0] = g(x, y - 1); }\n"},
    {K("for(t:2)Y[0]=1;\n"), K("    for (t : 2) Y[0] = 1;\n")},
    {K("for(t:2)\nfor(u:2)\nY[t]=u;\nY[1]=2;\n"),
     K("    for (t : 2)\n        for (u : 2)\n            Y[t] = u;\n"
       "    Y[1] = 2;\n")},
    {K("for(t:2)\nfor(u:2){\nY[t]=u;\n}\nY[1]=2;\n"),
     K("    for (t : 2)\n        for (u : 2) {\n            Y[t] = u;\n"
       "        }\n    Y[1] = 2;\n")},
    {K("if(M>1){\nY[0]=1;\n}else if(M<1)\nY[0]=2;\nelse{\nY[0]=3;}\n"),
     K("    if (M > 1) {\n        Y[0] = 1;\n    } else if (M < 1)\n"
       "        Y[0] = 2;\n    else {\n        Y[0] = 3; }\n")},
    {K("if(M>1){\nfor(t:2)\nif(t<1){\nY[0]=1;\n}else{\nY[0]=2;\n}\n}\n"),
     K("    if (M > 1) {\n        for (t : 2)\n            if (t < 1) {\n"
       "                Y[0] = 1;\n            } else {\n"
       "                Y[0] = 2;\n            }\n    }\n")},
    {K("produce p\nY[0]=1;\nconsume p{Y[0]=1;}\n"),
     K("    produce p\n        Y[0] = 1;\n    consume p { Y[0] = 1; }\n")},
    {K("Y[0]=1\n+2;\n  Y[0] = 1\n         + 2;\n"),
     K("    Y[0] = 1\n        + 2;\n    Y[0] = 1\n           + 2;\n")},
    {K("Y[m]max=Y[m]>0?1:2;Y[m]   min= max ( 1,2 )via map slow;\n"),
     K("    Y[m] max= Y[m] > 0 ? 1 : 2; Y[m] min= max (1, 2) via map slow;\n")},
    {K("f(  );f( a [ 1 ],\n2);\n"), K("    f(); f(a[1],\n        2);\n")},
    {K("reg accum ( T ) a[4]=accum(T) (0);\n"),
     K("    reg accum(T) a[4] = accum(T) (0);\n")},
    {K("\n\n\n// a\n// b\n\n\nY[0]=1;   // c  \nY[0]=/*d*/2/* e */;/* f */\n// g\n"),
     K("\n    // a\n    // b\n\n    Y[0] = 1;   // c\n"
       "    Y[0] = /*d*/ 2 /* e */ ; /* f */\n    // g\n")},
    {K("Y[0] = 1 // a\n+ 2;\n"), K("    Y[0] = 1 // a\n        + 2;\n")},
    {K("/* a\n b\n*/ Y[0] = 1;\n"), K("    /* a\n b\n*/ Y[0] = 1;\n")},
    {"kernel k(", "expected `in`, `out` or `inout`, found the end of the file"},
};
/* clang-format on */

static void
test_rows(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *want = rows[i].want ? rows[i].want : rows[i].in;
        const char *once = format(cx, rows[i].in);
        check_text(rows[i].in, want, once);
        if (axe_n_error(cx) == 0)
            check_text("again", once, format(cx, once));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* ----------------------------------------------------------- whole kernels */

/* The tokens, one a line. */
static const char *
tokens_of(axe_ctx *cx, const char *text)
{
    axe_buf          out = {.cx = cx};
    const axe_token *t;

    axe_puts(&out, "");
    if (axe_lex(cx, axe_source_add(cx, "test", text, strlen(text)), &t) ==
        AXE_OK)
        for (; t->kind != AXE_TOK_end; t++)
            axe_putf(&out, "%.*s\n", (int)(t->end - t->begin), text + t->begin);
    return out.text;
}

/* The IR of all kernels. */
static const char *
ir_of(axe_ctx *cx, const char *text)
{
    axe_buf           out = {.cx = cx};
    const axe_module *m;
    const axe_kernel *k;
    axe_inst          inst = {.machine = "cpu"};

    axe_puts(&out, "");
    if (axe_module_parse(cx, axe_source_add(cx, "k", text, strlen(text)), &m) !=
        AXE_OK)
        return "";
    for (int i = 0; i < axe_module_n_kernel(m); i++) {
        inst.kernel = axe_module_kernel_name(m, i);
        if (axe_module_instantiate(cx, m, &inst, &k) == AXE_OK)
            axe_kernel_print(cx, &out, k);
    }
    return out.text;
}

static int
count(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* The same with blanks and line breaks between tokens put in and taken out,
 * where no comment is and two tokens stay two. */
static const char *
thrown(axe_ctx *cx, const char *text, uint32_t seed)
{
    axe_buf          out = {.cx = cx};
    const axe_token *t;
    size_t           at = 0;

    if (axe_lex(cx, axe_source_add(cx, "test", text, strlen(text)), &t) !=
        AXE_OK)
        return text;
    for (;; at = t->end, t++) {
        bool plain = true, none = at == t->begin;
        for (size_t i = at; i < t->begin; i++)
            plain = plain && strchr(" \t\r\n", text[i]);
        seed = seed * 1664525 + 1013904223;
        if (!plain || none || seed >> 30 == 0)
            axe_putn(&out, text + at, t->begin - at);
        else
            axe_puts(&out, seed >> 29 & 1   ? "\n\n\n"
                           : seed >> 28 & 1 ? "\t  "
                                            : " ");
        if (t->kind == AXE_TOK_end)
            return out.text;
        axe_putn(&out, text + t->begin, t->end - t->begin);
    }
}

static void
check_kernel(const char *what, const char *text)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *ir = ir_of(cx, text), *form = format(cx, text);

    check_text(what, tokens_of(cx, text), tokens_of(cx, form));
    check_text(what, ir, ir_of(cx, form));
    check_text(what, form, format(cx, form));
    assert_int_equal(count(text, "//"), count(form, "//"));
    for (uint32_t seed = 1; seed <= 20; seed++) {
        const char *row = axe_textf(cx, "%s, seed %u", what, seed);
        const char *wild = thrown(cx, text, seed), *tame = format(cx, wild);
        check_text(row, tokens_of(cx, text), tokens_of(cx, tame));
        check_text(row, tame, format(cx, tame));
        check_text(row, ir, ir_of(cx, tame));
        assert_int_equal(count(text, "//"), count(tame, "//"));
    }
    axe_ctx_free(cx);
}

static char text[1 << 18];

static void
take_file(const char *path)
{
    FILE  *f = fopen(path, "rb");
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
}

/* The library is in its form. */
static void
test_library(void **state)
{
    static const char folder[] = AXE_SOURCE_DIR "/kernels";
    DIR              *d = opendir(folder);
    int               n = 0;

    (void)state;
    failed = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        if (!strstr(e->d_name, ".axe"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        take_file(path);
        check_kernel(e->d_name, text);
        n++;
    }
    closedir(d);
    assert_true(n >= 3);
    assert_int_equal(failed, 0);
}

static void
test_page(void **state)
{
    char *s = text, *end;
    int   n = 0;

    (void)state;
    failed = 0;
    take_file(AXE_SOURCE_DIR "/docs/language.md");
    while ((s = strstr(s, "\n```axe\n"))) {
        s += strlen("\n```axe\n");
        end = strstr(s, "\n```");
        assert_non_null(end);
        end[1] = '\0';
        check_kernel("page", s);
        s = end + 2;
        n++;
    }
    assert_true(n >= 8);
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
