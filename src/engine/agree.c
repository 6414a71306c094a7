/* agree.c - are ranks of one mind?  One gather says that they are; what they
 * differ in takes more of them, and is the same text on all ranks. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "engine/engine.h"

typedef struct said {
    uint64_t hash;
    char     text[ENGINE_BLOB - 8]; /* its beginning */
} said;

axe_status
axe_engine_agree(axe_engine *e, const char *what, const char *text)
{
    said mine = {0}, *all;

    if (!e || !what || !text)
        return AXE_EARG;
    all = axe_new_array(e->cx, said, e->size);
    mine.hash = axe_text_hash(text, strlen(text));
    for (size_t i = 0; text[i] && i + 1 < sizeof mine.text; i++)
        mine.text[i] = text[i];
    AXE_TRY(axe_engine_gather(e, &mine, sizeof mine, all));
    for (int64_t r = 1; r < e->size; r++)
        if (all[r].hash != all[0].hash) {
            e->common = true;
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                            "ranks differ in %s: rank 0 has %s, rank %" PRId64
                            " has %s",
                            what, all[0].text, r, all[r].text);
        }
    return AXE_OK;
}

axe_status
engine_agree_in(axe_engine *e, const char *what, int n, const char *const *text)
{
    enum { NUMBERS = 2 };
    uint64_t  mine[NUMBERS] = {0, (uint64_t)n};
    uint64_t *all = axe_new_array(e->cx, uint64_t, NUMBERS * e->size);
    uint64_t  most = 0;
    bool      same = true;

    for (int i = 0; i < n; i++)
        mine[0] =
            mine[0] * 0x100000001b3u + axe_text_hash(text[i], strlen(text[i]));
    AXE_TRY(axe_engine_gather(e, mine, sizeof mine, all));
    for (int64_t r = 0; r < e->size; r++) {
        same = same && memcmp(all + NUMBERS * r, all, sizeof mine) == 0;
        most = all[NUMBERS * r + 1] > most ? all[NUMBERS * r + 1] : most;
    }
    for (int i = 0; !same && i < (int)most; i++)
        AXE_TRY(axe_engine_agree(e, what, i < n ? text[i] : "nothing more"));
    return AXE_OK;
}

/* Engines map as much as rank 0 has. */
static axe_status
check_room(axe_engine *e)
{
    int64_t *room = axe_new_array(e->cx, int64_t, e->size);

    AXE_TRY(axe_engine_gather(e, &e->room, sizeof e->room, room));
    for (int64_t r = 1; r < e->size; r++)
        if (room[r] != room[0]) {
            e->common = true;
            return axe_fail(
                e->cx, AXE_NOWHERE, AXE_EARG,
                "ranks differ: rank 0 is of %" PRId64 " with %" PRId64
                " bytes of symmetric memory, rank %" PRId64 " with %" PRId64,
                e->size, room[0], r, room[r]);
        }
    return AXE_OK;
}

axe_status
engine_check_same(axe_engine *e, int n, const char *const *same)
{
    AXE_TRY(engine_agree_in(e, "what they launch", n, same));
    return check_room(e);
}
