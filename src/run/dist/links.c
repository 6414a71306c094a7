/* links.c - links that were measured, kept in the records of tuning: a row for
 * each machine, link, engine and number of ranks. */
#include <inttypes.h>
#include <stdio.h>

#include "axe/engine.h"
#include "base/ctx.h"
#include "run/tune/records.h"

enum { MESSAGE = 1 << 20 /* [bytes] by whose time links are compared */ };

static axe_record_key
key_of(axe_ctx *cx, const char *link, const char *engine)
{
    return (axe_record_key){.machine = axe_records_machine(cx, "links"),
                            .digest = "",
                            .kernel = link,
                            .variant = engine,
                            .n_worker = 2};
}

axe_status
axe_links_keep(axe_ctx *cx, const char *path, const char *engine,
               const axe_link *link)
{
    AXE_NEED(cx, engine);
    AXE_NEED(cx, link);
    const char    *at = axe_records_path(cx, path, NULL);
    axe_record_key key = key_of(cx, link->name, engine);
    axe_record     r = {.bindings =
                            axe_textf(cx, "latency=%" PRId64 " bandwidth=%" PRId64,
                                      link->latency, link->bandwidth),
                        .seconds = (double)link->latency / 1e9 +
                                   (double)MESSAGE / (double)link->bandwidth};
    axe_records   *db;
    axe_status     st;

    if (!at)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "links: there is no place for records; AXE_TUNED "
                        "names one");
    AXE_TRY(axe_records_open(cx, at, true, &db));
    st = axe_records_put(cx, db, &key, &r);
    axe_records_close(db);
    return st;
}

axe_status
axe_links_find(axe_ctx *cx, const char *path, const char *engine,
               const char *name, axe_link *out, bool *found)
{
    AXE_NEED(cx, engine);
    AXE_NEED(cx, name);
    AXE_NEED(cx, out);
    AXE_NEED(cx, found);
    const char    *at = axe_records_path(cx, path, NULL);
    axe_record_key key = key_of(cx, name, engine);
    FILE          *f = at ? fopen(at, "r") : NULL;
    axe_record     r = {.bindings = ""};
    axe_records   *db;
    axe_status     st;
    axe_link       l = {.name = name, .measured = true};

    *found = false;
    if (!f)
        return AXE_OK;
    fclose(f);
    AXE_TRY(axe_records_open(cx, at, false, &db));
    st = axe_records_best(cx, db, &key, &r, found);
    axe_records_close(db);
    if (st != AXE_OK || !*found)
        return st;
    *found = sscanf(r.bindings, "latency=%" SCNd64 " bandwidth=%" SCNd64,
                    &l.latency, &l.bandwidth) == 2 &&
             l.latency >= 0 && l.bandwidth > 0;
    if (*found)
        *out = l;
    return AXE_OK;
}
