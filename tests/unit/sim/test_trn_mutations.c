/* test_trn_mutations.c - compiled kernels as traces, each with one edit that
 * breaks a rule of the machine: the simulator names the rule, and the line.
 *
 * Lines are found by a part of their text, so that rows outlive changes of what
 * is compiled.  Edits are of a line's words: its engine, its operands, what
 * comes behind them by name; or of a declaration's. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "run/program.h"
#include "sim/trn/trn.h"

enum { MAX_LINES = 256, MAX_TEXT = 1 << 16, MAX_WORDS = 16 };

typedef enum edit {
    DROP,    /* the line is not there */
    ENGINE,  /* the first word, also of a declaration, becomes `text` */
    OPERAND, /* operand `arg` becomes `text` */
    SWAP,    /* operands `arg` and arg + 1 are exchanged */
    PART,    /* of operand `arg`: the first partition becomes `text` .. */
    PARTS,   /* .. their number .. */
    FROM,    /* .. so many elements further on .. */
    COLS,    /* .. the number of elements .. */
    STEP,    /* .. and the step from one to the next */
    NAMED,   /* "name=value": instead of what has this name, or behind all */
    TYPE,    /* of a declaration: the element type .. */
    ROWS,    /* .. how many partitions .. */
    AT,      /* .. the first of them .. */
    BYTE,    /* .. and in each so many bytes further on */
    BEFORE,  /* lines before it */
    N_EDIT
} edit;

typedef enum which { GEMM, CAUSAL, ATTENTION, GROUPED, N_WHICH } which;

static const struct {
    const char *file, *set[4][2], *size[7];
} subjects[N_WHICH] = {
    [GEMM] = {"gemm",
              {{"T", "bf16"}, {"BM", "128"}, {"BN", "128"}, {"BK", "32"}},
              {"M=40", "N=36", "K=72"}},
    [CAUSAL] = {"softmax_causal",
                {{"T", "f32"}, {"BM", "8"}},
                {"M=10", "N=520"}},
    [ATTENTION] = {"attention",
                   {{"T", "f32"}, {"BM", "64"}, {"BN", "64"}},
                   {"G=1", "R=1", "S=40", "L=70"}},
    [GROUPED] = {"gemm_grouped",
                 {{"T", "f32"}, {"BN", "128"}, {"BK", "32"}},
                 {"M=50", "K=40", "P=40", "E=3", "N=36", "Q=1"}},
};

/* A line of the kernel: the nth, from 0, with `key` in it.  Of `text` what is
 * before a bar are lines that come before.  What is said is at the line
 * (BEFORE: the last that is put before it), or if `at` is not NULL at the first
 * with that in it from there on. */
static const struct {
    const char *rule;
    which       kernel;
    const char *key;
    int         nth;
    edit        edit;
    int         arg;
    const char *text, *said, *at;
} rows[] = {
#include "trn_mutations.def"
};

/* ------------------------------------------------------------------- lines */

typedef struct text {
    int   n;
    char *line[MAX_LINES];
} text;

static axe_ctx *cx;

static char *
slurp(const char *file, size_t *n)
{
    char *out = axe_alloc(cx, MAX_TEXT);
    FILE *f =
        fopen(axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, file), "rb");

    assert_non_null(f);
    *n = fread(out, 1, MAX_TEXT - 1, f);
    out[*n] = '\0';
    assert_int_equal(fclose(f), 0);
    return out;
}

static const char *
trace_of(which k)
{
    const axe_program *p;
    size_t             n;
    const char        *s = slurp(subjects[k].file, &n);
    const char        *name[4], *value[4];
    axe_compile_spec   spec = {
          .machine = "trn1", .set_name = name, .set_value = value};

    for (int i = 0; i < 4 && subjects[k].set[i][0]; i++) {
        name[spec.n_set] = subjects[k].set[i][0];
        value[spec.n_set++] = subjects[k].set[i][1];
    }
    if (axe_compile(cx, axe_source_add(cx, subjects[k].file, s, n), &spec,
                    AXE_STAGE_LOWER, &p) != AXE_OK)
        fail_msg("%s: %s", subjects[k].file, axe_last_error(cx));
    return axe_trace_text(cx, p->lowered->trace);
}

static text
lines_of(const char *s)
{
    text out = {0};

    while (*s) {
        const char *end = strchr(s, '\n');
        assert_true(out.n < MAX_LINES && end);
        out.line[out.n++] = axe_textf(cx, "%.*s", (int)(end - s), s);
        s = end + 1;
    }
    return out;
}

static int
find_line(const text *t, int from, const char *key, int nth)
{
    for (int i = from; i < t->n; i++)
        if (strstr(t->line[i], key) && nth-- == 0)
            return i;
    fail_msg("the kernel has no line with %s", key);
    return -1;
}

/* ------------------------------------------------------------------- edits */

/* Cuts at commas outside of brackets; words[0] has what is before them. */
static int
cut(char *s, char **words)
{
    int n = 0, deep = 0;

    words[n++] = s;
    for (; *s; s++) {
        deep += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
        if (*s == ',' && deep == 0 && n < MAX_WORDS) {
            *s = '\0';
            words[n++] = s + 2;
        }
    }
    return n;
}

/* "tensor nc_matmul acc[..]" as what is before the first operand, and it. */
static char *
head_of(char **words)
{
    char *s = words[0];

    while (*s == ' ')
        s++;
    s = strchr(strchr(s, ' ') + 1, ' ');
    *s = '\0';
    char *head = words[0];
    words[0] = s + 1;
    return head;
}

/* One of the five numbers of "t[part, from : parts, cols by step]". */
static char *
with_number(const char *operand, edit e, const char *to)
{
    char *s = axe_textf(cx, "%s", operand), *word[MAX_WORDS];
    char *open = strchr(s, '['), *close = strrchr(s, ']');
    assert_true(open && close);
    *open = *close = '\0';
    assert_int_equal(cut(open + 1, word), 3);
    char *colon = strstr(word[1], " : "), *by = strstr(word[2], " by ");
    assert_true(colon && by);
    *colon = *by = '\0';
    const char *from =
        e == FROM ? axe_textf(cx, "%s + %s", word[1], to) : word[1];
    return axe_textf(cx, "%s[%s, %s : %s, %s by %s]", s,
                     e == PART ? to : word[0], from,
                     e == PARTS ? to : colon + 3, e == COLS ? to : word[2],
                     e == STEP ? to : by + 4);
}

static void
edit_named(char **words, int *n, const char *to)
{
    size_t len = (size_t)(strchr(to, '=') - to) + 1;

    for (int i = 0; i < *n; i++)
        if (strncmp(words[i], to, len) == 0) {
            words[i] = axe_textf(cx, "%s", to);
            return;
        }
    words[(*n)++] = axe_textf(cx, "%s", to);
}

static char *
edit_step(char *line, edit e, int arg, const char *to)
{
    char   *words[MAX_WORDS + 1];
    int     n = cut(line, words);
    char   *head = head_of(words);
    axe_buf b = {.cx = cx};

    if (e == NAMED)
        edit_named(words, &n, to);
    else if (e == OPERAND)
        words[arg] = axe_textf(cx, "%s", to);
    else if (e == SWAP) {
        char *was = words[arg];
        words[arg] = words[arg + 1];
        words[arg + 1] = was;
    } else
        words[arg] = with_number(words[arg], e, to);
    axe_putf(&b, "%s %s", head, words[0]);
    for (int i = 1; i < n; i++)
        axe_putf(&b, ", %s", words[i]);
    return b.text;
}

/* "sbuf t : f32[rows, ..] at first, byte" */
static char *
edit_tile(char *line, edit e, const char *to)
{
    char *colon = strstr(line, " : "), *open = strchr(line, '[');
    char *comma = strchr(open, ','), *at = strstr(line, "] at ");
    char *byte = strchr(at, ',');

    assert_true(colon && open && comma && at && byte);
    *colon = *open = *comma = *at = *byte = '\0';
    return axe_textf(cx, "%s : %s[%s,%s] at %s,%s%s%s", line,
                     e == TYPE ? to : colon + 3, e == ROWS ? to : open + 1,
                     comma + 1, e == AT ? to : at + 5, byte + 1,
                     e == BYTE ? " + " : "", e == BYTE ? to : "");
}

static char *
edited(char *line, edit e, int arg, const char *to)
{
    if (e == DROP)
        return axe_textf(cx, "# dropped");
    if (e == ENGINE) {
        char *s = line;
        while (*s == ' ')
            s++;
        return axe_textf(cx, "%s%s", to, strchr(s, ' '));
    }
    return e >= TYPE ? edit_tile(line, e, to) : edit_step(line, e, arg, to);
}

/* ------------------------------------------------------------------ running */

static axe_status
run(const text *t, which k)
{
    axe_buf          b = {.cx = cx};
    const axe_trace *trace;
    axe_trn_options  opt = {0};
    axe_trn_report   report;

    for (int i = 0; i < t->n; i++)
        axe_putf(&b, "%s\n", t->line[i]);
    AXE_TRY(axe_trn_profile(cx, "doc", &opt.params));
    AXE_TRY(axe_trace_read(cx, axe_source_add(cx, "t", b.text, b.len), b.text,
                           &trace));
    for (int i = 0; subjects[k].size[i]; i++)
        AXE_TRY(axe_trace_set(cx, trace, subjects[k].size[i]));
    void **data = axe_new_array(cx, void *, trace->n_tensor);
    for (int i = 0; i < trace->n_tensor; i++) {
        int64_t shape[AXE_TRACE_DIMS], n = 8;
        if (trace->tensor[i].memory != AXE_TRN_HBM)
            continue;
        AXE_TRY(axe_trn_shape(cx, trace, i, shape));
        for (int d = 0; d < trace->tensor[i].rank; d++)
            n *= shape[d];
        data[i] = axe_alloc(cx, (size_t)n);
        memset(data[i], 0, (size_t)n);
    }
    return axe_trn_run(cx, trace, &opt, data, &report);
}

/* Lines that come before a line, which becomes as the row says. */
static void
edit_line(text *t, int at, int row)
{
    const char *to = rows[row].text, *bar = strchr(to, '|');
    text        before = {0};

    if (rows[row].edit == BEFORE)
        before = lines_of(axe_textf(cx, "%s\n", to));
    else {
        if (bar)
            before = lines_of(axe_textf(cx, "%.*s\n", (int)(bar - to), to));
        t->line[at] = edited(t->line[at], rows[row].edit, rows[row].arg,
                             bar ? bar + 1 : to);
    }
    assert_true(t->n + before.n <= MAX_LINES);
    memmove(t->line + at + before.n, t->line + at,
            (size_t)(t->n - at) * sizeof *t->line);
    memcpy(t->line + at, before.line, (size_t)before.n * sizeof *t->line);
    t->n += before.n;
}

static void
check_row(int i)
{
    text        t = lines_of(trace_of(rows[i].kernel));
    int         at = find_line(&t, 0, rows[i].key, rows[i].nth), n = t.n;
    const char *line = axe_textf(cx, "%s", t.line[at]);

    edit_line(&t, at, i);
    at += t.n - n - (rows[i].edit == BEFORE && !rows[i].at);
    if (rows[i].at)
        at = find_line(&t, at, rows[i].at, 0);
    if (run(&t, rows[i].kernel) == AXE_OK)
        fail_msg("%s: nothing is found with\n%s\ninstead of\n%s", rows[i].rule,
                 t.line[at], line);
    const axe_diag *d = axe_diags(cx);
    if (!strstr(axe_last_error(cx), rows[i].said) || d->at.line != at + 1)
        fail_msg("%s: at line %d, and not %d, of\n%s\nit is said\n%s",
                 rows[i].rule, (int)d->at.line, at + 1, t.line[at],
                 axe_last_error(cx));
}

/* Without an edit nothing is wrong. */
static void
test_right(void **state)
{
    (void)state;
    for (int k = 0; k < N_WHICH; k++) {
        cx = axe_ctx_new();
        text t = lines_of(trace_of((which)k));
        if (run(&t, (which)k) != AXE_OK)
            fail_msg("%s: %s", subjects[k].file, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

static void
test_rows(void **state)
{
    bool used[N_EDIT] = {false};

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        cx = axe_ctx_new();
        used[rows[i].edit] = true;
        check_row(i);
        axe_ctx_free(cx);
    }
    for (int e = 0; e < N_EDIT; e++)
        assert_true(used[e]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
