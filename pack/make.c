/* make.c - writes the library's kernels ahead of time as C.
 *
 *     make_pack KERNELS OUT PARTS
 *
 * compiles every row of pack.def from KERNELS for every machine below, and
 * writes OUT/table.c and for each machine OUT/MACHINE-PART.c, PART < PARTS,
 * each only if it changed.  Parts are what several processes compile at a time;
 * a kernel's rows are in one.  A machine whose code for a kernel is that of an
 * earlier one shares it: the digest leaves out the line that names the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "plan/plan.h"
#include "print/aot/aot.h"
#include "run/array/file.h"
#include "run/program.h"

static const char *const machine[] = {"cpu-avx2", "cpu-avx512",
                                      "cpu-avx512-bf16"};

static const struct {
    const char *file, *kernel, *set, *packed;
} rows[] = {
#define PACK(file, kernel, set, packed) {#file, #kernel, set, packed},
#include "pack.def"
};

enum { MAX_ENTRY = AXE_LEN(rows) * AXE_LEN(machine), MAX_SET = 8 };

typedef struct maker {
    axe_ctx    *cx;
    const char *kernels, *out;
    int         n_part, n;
    struct {
        const unsigned char *digest;
        const char          *text; /* of the table */
    } made[MAX_ENTRY];
} maker;

static bool
is_made(const maker *m, const unsigned char *digest)
{
    for (int i = 0; i < m->n; i++)
        if (memcmp(m->made[i].digest, digest, AXE_SHA256_BYTES) == 0)
            return true;
    return false;
}

/* "T=f32 D=64" as names and values. */
static int
split(axe_ctx *cx, const char *set, const char **name, const char **value)
{
    int n = 0;

    for (char *w = strtok(axe_textf(cx, "%s", set), " "); w && n < MAX_SET;
         w = strtok(NULL, " ")) {
        size_t len = strcspn(w, "=");
        value[n] = w[len] ? w + len + 1 : "";
        w[len] = '\0';
        name[n++] = w;
    }
    return n;
}

static axe_status
compile(maker *m, int row, const char *mc, const axe_program **out)
{
    static const char *const order[] = {"packed"};
    const char              *name[MAX_SET], *value[MAX_SET];
    const char              *path =
        axe_textf(m->cx, "%s/%s.axe", m->kernels, rows[row].file);
    axe_compile_spec spec = {.kernel = rows[row].kernel,
                             .machine = mc,
                             .n_set = split(m->cx, rows[row].set, name, value),
                             .set_name = name,
                             .set_value = value,
                             .n_order = rows[row].packed[0] != '\0',
                             .order_name = &rows[row].packed,
                             .order = order};
    axe_bytes        b;

    AXE_TRY(axe_file_read(m->cx, path, &b));
    int32_t source = axe_source_add(m->cx, path, (const char *)b.data, b.len);
    free(b.data);
    return axe_compile(m->cx, source, &spec, AXE_STAGE_C, out);
}

static void
note(maker *m, int row, const char *mc, const axe_program *p, const char *entry)
{
    const char *name[MAX_SET], *value[MAX_SET];
    axe_buf     b = {.cx = m->cx};
    int         n = split(m->cx, rows[row].set, name, value);

    axe_puts(&b, "    {{");
    for (int i = 0; i < AXE_SHA256_BYTES; i++)
        axe_putf(&b, "%d,", p->c_digest[i]);
    axe_putf(&b, "}, \"%s", rows[row].kernel);
    for (int i = 0; i < n; i++)
        axe_putf(&b, "%s%s = %s", i ? ", " : "<", name[i], value[i]);
    axe_putf(&b, "%s%s%s for %s\", %s},\n", n ? ">" : "",
             rows[row].packed[0] ? ", packed " : "", rows[row].packed, mc,
             entry);
    m->made[m->n].digest = p->c_digest;
    m->made[m->n++].text = b.text;
}

/* Write it unless it is there already, so that nothing is compiled anew. */
static axe_status
put_file(maker *m, const char *name, const axe_buf *b)
{
    const char *path = axe_textf(m->cx, "%s/%s.c", m->out, name);
    axe_mark    mark = axe_ctx_mark(m->cx);
    axe_bytes   old;
    bool        same = false;

    if (axe_file_read(m->cx, path, &old) == AXE_OK) {
        same = old.len == b->len && memcmp(old.data, b->text, b->len) == 0;
        free(old.data);
    } else {
        axe_ctx_release(m->cx, mark);
    }
    return same ? AXE_OK : axe_file_write(m->cx, path, 0666, b->text, b->len);
}

/* The part of a row: rows of one kernel follow each other. */
static int
part_of(const maker *m, int row)
{
    int kernel = 0;

    for (int i = 1; i <= row; i++)
        kernel += strcmp(rows[i].kernel, rows[i - 1].kernel) != 0;
    return kernel % m->n_part;
}

static axe_status
put_part(maker *m, const char *mc, int part)
{
    axe_c_entry *entry = axe_new_array(m->cx, axe_c_entry, AXE_LEN(rows));
    axe_buf      b = {.cx = m->cx};
    int          n = 0;

    for (int i = 0; i < AXE_LEN(rows); i++) {
        const axe_program *p;
        if (part_of(m, i) != part)
            continue;
        AXE_TRY(compile(m, i, mc, &p));
        if (is_made(m, p->c_digest))
            continue;
        entry[n].lowered = p->lowered;
        entry[n].name = axe_textf(m->cx, "axe_packed_%d", m->n);
        note(m, i, mc, p, entry[n++].name);
    }
    if (n > 0) {
        axe_print_c_target(&b, entry[0].lowered->plan->machine, true);
        AXE_TRY(axe_print_c_unit(m->cx, n, entry, &b));
        axe_print_c_target(&b, entry[0].lowered->plan->machine, false);
    } else {
        axe_puts(&b, "typedef int axe_nothing;\n");
    }
    return put_file(m, axe_textf(m->cx, "%s-%d", mc, part), &b);
}

static axe_status
put_table(maker *m)
{
    axe_buf b = {.cx = m->cx};

    axe_puts(&b, "#include \"run/pack.h\"\n");
    for (int i = 0; i < m->n; i++)
        axe_putf(&b, "axe_entry_fn axe_packed_%d;\n", i);
    axe_puts(&b, "const axe_pack_entry axe_pack[] = {\n");
    for (int i = 0; i < m->n; i++)
        axe_puts(&b, m->made[i].text);
    axe_putf(&b, "};\nconst int axe_n_pack = %d;\n", m->n);
    return put_file(m, "table", &b);
}

static axe_status
make(maker *m)
{
    for (int i = 0; i < AXE_LEN(machine); i++)
        for (int part = 0; part < m->n_part; part++)
            AXE_TRY(put_part(m, machine[i], part));
    return put_table(m);
}

int
main(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    maker    m = {.cx = cx};
    axe_buf  b = {.cx = cx};

    m.n_part = argc == 4 ? atoi(argv[3]) : 0;
    if (m.n_part < 1) {
        fprintf(stderr, "usage: make_pack KERNELS OUT PARTS\n");
        return 2;
    }
    m.kernels = argv[1];
    m.out = argv[2];
    if (make(&m) != AXE_OK) {
        axe_diags_print(cx, &b, false);
        fputs(b.text, stderr);
        return 1;
    }
    axe_ctx_free(cx);
    return 0;
}
