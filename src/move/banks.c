/* banks.c - bank conflicts, by enumeration of one access. */
#include <string.h>

#include "move/banks.h"

enum { MAX_WORDS = 64 };

/* The different words that a phase wants of each bank. */
typedef struct phase {
    int     n[AXE_MAX_BANKS];
    int64_t word[AXE_MAX_BANKS][MAX_WORDS];
} phase;

/* Places may be negative where something else is added to all of them. */
static int64_t
rest(int64_t x, int64_t n)
{
    return (x % n + n) % n;
}

static void
want(phase *p, int banks, int64_t word)
{
    int b = (int)rest(word, banks);

    for (int i = 0; i < p->n[b]; i++)
        if (p->word[b][i] == word)
            return;
    if (p->n[b] < MAX_WORDS)
        p->word[b][p->n[b]++] = word;
}

static int
deepest(const phase *p, int banks)
{
    int most = 0;

    for (int b = 0; b < banks; b++)
        most = p->n[b] > most ? p->n[b] : most;
    return most;
}

/* Of a vector register: words side by side in its lanes come by lines as wide
 * as all banks, a word for all lanes at once, any others one by one. */
static int64_t
vector_cycles(const axe_simt *mc, int n, const int64_t *at, int64_t bytes)
{
    int64_t width = (int64_t)mc->banks * mc->bank_bytes;
    int64_t words = (bytes + mc->bank_bytes - 1) / mc->bank_bytes;
    bool    same = true, row = words == 1;

    for (int i = 1; i < n; i++) {
        same = same && at[i] == at[0];
        row = row && at[i] == at[0] + i * bytes;
    }
    if (same)
        return words;
    return row ? (n * bytes + width - 1) / width : n * words;
}

axe_banks
axe_banks_of(const axe_simt *mc, int n, const int64_t *at, int64_t bytes)
{
    int64_t   width = (int64_t)mc->banks * mc->bank_bytes;
    int       lanes = bytes < width ? (int)(width / bytes) : 1;
    axe_banks sum = {0, 0};
    phase     p;

    if (mc->on_core) {
        sum.phases = (n + lanes - 1) / lanes;
        sum.cycles = vector_cycles(mc, n, at, bytes);
        return sum;
    }
    for (int first = 0; first < n; first += lanes) {
        memset(p.n, 0, sizeof p.n);
        for (int i = first; i < n && i < first + lanes; i++)
            for (int64_t x = at[i]; x < at[i] + bytes;
                 x += mc->bank_bytes - rest(x, mc->bank_bytes))
                want(&p, mc->banks,
                     (x - rest(x, mc->bank_bytes)) / mc->bank_bytes);
        sum.phases += bytes > width ? bytes / width : 1;
        sum.cycles += deepest(&p, mc->banks);
    }
    return sum;
}

void
axe_banks_add(axe_banks *sum, axe_banks b)
{
    sum->phases += b.phases;
    sum->cycles += b.cycles;
}

int64_t
axe_banks_degree(axe_banks b)
{
    return b.phases > 0 ? (b.cycles + b.phases - 1) / b.phases : 1;
}
