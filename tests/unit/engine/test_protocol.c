/* test_protocol.c - plans as lists of steps on simulated ranks: nothing is
 * found of a list as it is, in any order; of one that is wrong, what is wrong;
 * and the engines wait and post as the lists say. */
#include "protocol_lists.h"

/* clang-format off */
static const struct { const char *mesh, *src, *dst; } plans[] = {
    {"x=4", "10@x, 3", "10, 3"},                     /* all-gather, uneven */
    {"x=4", "8, 8 + partial(x)", "8@x, 8"},          /* reduce-scatter */
    {"x=3", "7, 5 + partial(x)", "7@x, 5"},
    {"x=4", "9, 7 + partial(x)", "9, 7"},            /* all-reduce, short */
    {"x=4", "99, 70 + partial(x)", "99, 70"},        /* by parts */
    {"x=3", "100, 70 + partial(x)", "100, 70"},
    {"x=4", "9@x, 7", "9, 7@x"},                     /* all-to-all */
    {"x=4", "99, 70 at x=1", "99, 70"},              /* broadcast by parts */
    {"x=4", "9, 7 at x=1", "9, 7"},
    {"x=4", "9@x, 7", "9, 7 at x=2"},                /* gather */
    {"x=4", "9, 7 at x=2", "9@x, 7"},                /* scatter */
    {"x=2, y=3", "10@x, 7@y", "10@y, 7@x"},
    {"x=2, y=4", "13@(x, y), 5", "13@(y, x), 5"},
    {"x=2, y=2", "6@x, 4 + partial(y)", "6, 4@y"},
    {"x=2, y=3", "60@x, 50 + partial(y)", "60, 50"},
    {"x=8", "3@x, 2", "3, 2"},                       /* some have nothing */
    {"x=1", "5@x, 4", "5, 4@x"},
    {"x=2", "5@x, 4", "5, 4@x"},
    {"x=8", "17, 3 + partial(x)", "17@x, 3"},
};
/* clang-format on */

static void
test_right(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_reshard_plan *p =
            plan_of(cx, plans[i].mesh, plans[i].src, plans[i].dst);
        protocol      *rank;
        axe_sim_report found;

        if (protocol_of_plan(cx, p, NULL, &rank) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        simulate(cx, p, rank, &found);
        if (found.n_finding > 0) {
            print_message("%s: %s to %s\n", plans[i].mesh, plans[i].src,
                          plans[i].dst);
            print(&found);
            n_wrong++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

/* --------------------------------------------------------------- mutations */

static program_run *
run_of(protocol_step *s)
{
    return &s->box.run[0][0];
}

/* The first wait that is for who reads what is overwritten, and not for what is
 * pulled next. */
static protocol_step *
reader_wait(protocol *p)
{
    for (int i = 0; i + 1 < p->n_step; i++)
        if (p->step[i].kind == PROTOCOL_WAIT &&
            (p->step[i + 1].kind != PROTOCOL_PULL ||
             p->step[i + 1].peer != p->step[i].peer))
            return &p->step[i];
    return NULL;
}

typedef enum bug {
    NO_WAIT,        /* one wait less */
    NO_WAIT_READER, /* those that wait for readers */
    NO_POST,
    NO_LATER_POST,
    TWO_POSTS,
    STALE_POST,
    POST_BEFORE_PUT,
    POST_BEFORE_PULL,
    STALE_WAIT,
    WAIT_TOO_FAR,
    WAIT_FOR_OTHER,
    WAIT_FOR_NOBODY,
    WAIT_BEHIND_PULL,
    OTHER_PEER,
    NO_SUCH_PEER,
    OTHER_BUFFER_FROM,
    OTHER_BUFFER_TO,
    OFFSET_FROM,
    OFFSET_TO,
    BEYOND,
    ROW_LESS,
    NO_PULL,
    PULL_TWICE,
    NOT_ADDED,
    ADDED_TO_COPY,
    EARLY_LEAVE,
    NO_MEET,
    TAKE_BEFORE_PULL,
    SHORT_PUT
} bug;

static void
mutate_signal(axe_ctx *cx, protocol *p, bug b)
{
    protocol_step *wait = step_of(p, PROTOCOL_WAIT, 0);
    protocol_step *post = step_of(p, PROTOCOL_POST, 0);
    protocol_step *pull = pull_of(p, 0);

    switch (b) {
    case NO_WAIT:
        drop(p, wait);
        break;
    case NO_WAIT_READER:
        while ((wait = reader_wait(p)))
            drop(p, wait);
        break;
    case NO_POST:
        drop(p, post);
        break;
    case NO_LATER_POST:
        drop(p, step_of(p, PROTOCOL_POST, 1));
        break;
    case TWO_POSTS:
        twice(cx, p, post);
        break;
    case STALE_POST:
        step_of(p, PROTOCOL_POST, 1)->count = 1;
        break;
    case POST_BEFORE_PUT:
        swap(post, step_of(p, PROTOCOL_PUT, 0));
        break;
    case POST_BEFORE_PULL:
        swap(step_of(p, PROTOCOL_POST, 1), step_of(p, PROTOCOL_POST, 1) - 1);
        break;
    case STALE_WAIT:
        for (int i = 0; (wait = step_of(p, PROTOCOL_WAIT, i)); i++)
            wait->count--;
        break;
    case WAIT_TOO_FAR:
        wait->count = (uint32_t)p->n_phase + 1;
        break;
    case WAIT_FOR_OTHER:
        wait->peer = p->rank;
        break;
    case WAIT_FOR_NOBODY:
        wait->peer = p->size;
        break;
    case WAIT_BEHIND_PULL:
        swap(pull, pull - 1);
        break;
    default:
        fail_msg("no such bug");
    }
}

static void
mutate_data(axe_ctx *cx, protocol *p, bug b)
{
    protocol_step *pull = pull_of(p, 0);

    switch (b) {
    case OTHER_PEER:
        pull->peer = pull_of(p, 1)->peer;
        break;
    case NO_SUCH_PEER:
        pull->peer = p->size;
        break;
    case OTHER_BUFFER_FROM:
        pull->from = !pull->from;
        break;
    case OTHER_BUFFER_TO:
        pull->to = !pull->to;
        break;
    case OFFSET_FROM:
        run_of(pull)->src++;
        break;
    case OFFSET_TO:
        run_of(pull)->dst++;
        break;
    case BEYOND:
        run_of(pull)->src += p->room;
        break;
    case ROW_LESS:
        run_of(pull)->n--;
        break;
    case NO_PULL:
        drop(p, pull);
        break;
    case PULL_TWICE:
        twice(cx, p, pull_of(p, 1));
        break;
    case NOT_ADDED:
        pull_of(p, 1)->add = false;
        break;
    case ADDED_TO_COPY:
        pull->add = true;
        break;
    case EARLY_LEAVE:
        swap(step_of(p, PROTOCOL_MEET, 0), step_of(p, PROTOCOL_LEAVE, 0));
        break;
    case NO_MEET:
        drop(p, step_of(p, PROTOCOL_MEET, 0));
        break;
    case TAKE_BEFORE_PULL:
        swap(step_of(p, PROTOCOL_TAKE, 0), step_of(p, PROTOCOL_TAKE, 0) - 1);
        break;
    case SHORT_PUT:
        step_of(p, PROTOCOL_PUT, 0)->n--;
        break;
    default:
        mutate_signal(cx, p, b);
    }
}

#define GATHER "x=4", "10@x, 3", "10, 3"
#define SCATTER "x=4", "10, 8 + partial(x)", "10@x, 8"
#define PARTS "x=4", "99, 70 + partial(x)", "99, 70"
#define STEPS "x=2, y=2", "6@x, 4 + partial(y)", "6, 4@y"

/* clang-format off */
static const struct {
    bug          bug;
    const char  *name, *mesh, *src, *dst;
    int          rank;
    axe_sim_kind want;
} bugs[] = {
    {NO_WAIT,          "a wait is missing",             GATHER,  1, AXE_SIM_ARRIVAL},
    {NO_WAIT,          "a wait of a sum is missing",    SCATTER, 1, AXE_SIM_ARRIVAL},
    {NO_POST,          "a signal is missing",           GATHER,  2, AXE_SIM_DEADLOCK},
    {NO_LATER_POST,    "a later signal is missing",     PARTS,   2, AXE_SIM_DEADLOCK},
    {TWO_POSTS,        "a signal twice",                GATHER,  2, AXE_SIM_SIGNAL},
    {STALE_POST,       "a signal of an old epoch",      PARTS,   2, AXE_SIM_SIGNAL},
    {POST_BEFORE_PUT,  "a signal before the write",     GATHER,  0, AXE_SIM_ARRIVAL},
    {POST_BEFORE_PULL, "a signal before the sum",       PARTS,   0, AXE_SIM_ARRIVAL},
    {STALE_WAIT,       "waits for the old epoch",       PARTS,   1, AXE_SIM_ARRIVAL},
    {WAIT_TOO_FAR,     "a wait for one too many",       GATHER,  1, AXE_SIM_DEADLOCK},
    {WAIT_FOR_OTHER,   "a wait for the wrong peer",     GATHER,  1, AXE_SIM_ARRIVAL},
    {WAIT_FOR_NOBODY,  "a wait for a rank there is not", GATHER, 1, AXE_SIM_BOUNDS},
    {WAIT_BEHIND_PULL, "a wait behind the read",        GATHER,  1, AXE_SIM_ARRIVAL},
    {OTHER_PEER,       "a read from the wrong peer",    GATHER,  0, AXE_SIM_WIRE},
    {OTHER_PEER,       "the same of a sum",             SCATTER, 0, AXE_SIM_CONTENT},
    {NO_SUCH_PEER,     "a read of a rank there is not", GATHER,  0, AXE_SIM_BOUNDS},
    {OTHER_BUFFER_FROM, "read from the other buffer",   GATHER,  0, AXE_SIM_ARRIVAL},
    {OTHER_BUFFER_TO,  "written into the other buffer", GATHER,  1, AXE_SIM_BUSY},
    {OFFSET_FROM,      "an offset of the source",       SCATTER, 1, AXE_SIM_CONTENT},
    {OFFSET_TO,        "an offset of the destination",  GATHER,  1, AXE_SIM_CONTENT},
    {BEYOND,           "a read beyond a buffer",        GATHER,  1, AXE_SIM_BOUNDS},
    {ROW_LESS,         "an element less",               GATHER,  3, AXE_SIM_WIRE},
    {ROW_LESS,         "an element less of a sum",      SCATTER, 3, AXE_SIM_CONTENT},
    {NO_PULL,          "a part is missing",             GATHER,  3, AXE_SIM_CONTENT},
    {NO_PULL,          "an addend is missing",          PARTS,   1, AXE_SIM_CONTENT},
    {PULL_TWICE,       "an addend twice",               SCATTER, 1, AXE_SIM_CONTENT},
    {PULL_TWICE,       "a part twice",                  GATHER,  1, AXE_SIM_WIRE},
    {NOT_ADDED,        "a sum that is overwritten",     SCATTER, 1, AXE_SIM_CONTENT},
    {ADDED_TO_COPY,    "added to what is not there",    GATHER,  1, AXE_SIM_UNINIT},
    {EARLY_LEAVE,      "an end before peers are done",  GATHER,  1, AXE_SIM_LEFT},
    {NO_MEET,          "a rank that does not meet",     GATHER,  1, AXE_SIM_DEADLOCK},
    {TAKE_BEFORE_PULL, "the result before the last part", GATHER, 1, AXE_SIM_CONTENT},
    {SHORT_PUT,      "an element that is not put",    GATHER,  1, AXE_SIM_ARRIVAL},
    {NO_WAIT_READER,   "overwritten while it is read",  STEPS,   0, AXE_SIM_BUSY},
};
/* clang-format on */

static void
test_bugs(void **state)
{
    int n_wrong = 0, n = (int)(sizeof bugs / sizeof bugs[0]);

    (void)state;
    for (int i = 0; i < n; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_reshard_plan *p =
            plan_of(cx, bugs[i].mesh, bugs[i].src, bugs[i].dst);
        protocol      *rank;
        axe_sim_report found;

        if (protocol_of_plan(cx, p, NULL, &rank) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        mutate_data(cx, &rank[bugs[i].rank], bugs[i].bug);
        simulate(cx, p, rank, &found);
        if (!has(&found, bugs[i].want)) {
            print_message("%s: no %s\n", bugs[i].name,
                          axe_sim_kind_name(bugs[i].want));
            print(&found);
            n_wrong++;
        }
        axe_ctx_free(cx);
    }
    print_message("%d of %d bugs found\n", n - n_wrong, n);
    assert_int_equal(n_wrong, 0);
}

/* A rank that leaves first of all: who reads from it then is told so. */
static void
test_gone(void **state)
{
    axe_ctx                *cx = axe_ctx_new();
    const axe_reshard_plan *p = plan_of(cx, GATHER);
    protocol_run            r = {.plan = p,
                                 .type = AXE_NUMBER_I64,
                                 .what = "a plan",
                                 .order = PROTOCOL_AHEAD,
                                 .who = 1};
    protocol               *rank;
    axe_sim_report          found = {0};
    bool                    gone = false;

    (void)state;
    if (protocol_of_plan(cx, p, NULL, &rank) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    mutate_data(cx, &rank[1], EARLY_LEAVE);
    r.rank = rank;
    if (protocol_simulate(cx, &r, &found) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    for (int i = 0; i < found.n_finding; i++)
        gone = gone || (found.finding[i].kind == AXE_SIM_LEFT &&
                        strstr(found.finding[i].text, "which is gone"));
    assert_true(gone);
    axe_ctx_free(cx);
}

/* --------------------------------------------------- the engines do the same
 */

/* An engine that is one rank alone, whose peers have always come: it writes
 * down what it is asked for. */
typedef struct noted {
    const protocol *p;
    int             at; /* the next step of the list */
    bool            wrong;
} noted;

static void
note(axe_engine *e, protocol_kind kind, int64_t peer, uint32_t count)
{
    noted *n = e->state;

    while (n->at < n->p->n_step && n->p->step[n->at].kind != PROTOCOL_POST &&
           n->p->step[n->at].kind != PROTOCOL_WAIT)
        n->at++;
    if (n->at == n->p->n_step || n->p->step[n->at].kind != kind ||
        n->p->step[n->at].peer != peer || n->p->step[n->at].count != count)
        n->wrong = true;
    n->at += n->at < n->p->n_step;
}

static void
note_post(axe_engine *e, uint32_t count)
{
    note(e, PROTOCOL_POST, 0, count);
}

static axe_status
note_wait(axe_engine *e, int64_t peer, uint32_t count)
{
    note(e, PROTOCOL_WAIT, peer, count);
    return AXE_OK;
}

static axe_status
have(axe_engine *e, int64_t bytes)
{
    (void)e;
    (void)bytes;
    return AXE_OK;
}

static axe_status
come(axe_engine *e)
{
    (void)e;
    return AXE_OK;
}

static axe_status
same(axe_engine *e, const void *mine, int64_t n, void *all)
{
    for (int64_t r = 0; r < e->size; r++)
        memcpy((char *)all + r * n, mine, (size_t)n);
    return AXE_OK;
}

static const engine_ops noting = {.name = "noting",
                                  .reserve = have,
                                  .barrier = come,
                                  .gather = same,
                                  .post = note_post,
                                  .await = note_wait};

/* Does a rank ask its engine for what its list has, and for no more? */
static bool
does_the_list(axe_ctx *cx, const axe_reshard_plan *plan, const protocol *p)
{
    int64_t    stride = axe_reshard_heap(plan) + 4096;
    noted      n = {.p = p};
    axe_engine e = {.ops = &noting,
                    .cx = cx,
                    .rank = p->rank,
                    .size = p->size,
                    .heap = axe_alloc(cx, (size_t)(stride * p->size)),
                    .stride = stride,
                    .room = stride,
                    .addressed = true,
                    .state = &n};
    size_t     room = (size_t)p->room * 8 + 8;

    if (axe_reshard_run(&e, plan, AXE_NUMBER_I64, axe_alloc(cx, room),
                        axe_alloc(cx, room), NULL) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    while (n.at < p->n_step && p->step[n.at].kind != PROTOCOL_POST &&
           p->step[n.at].kind != PROTOCOL_WAIT)
        n.at++;
    return !n.wrong && n.at == p->n_step;
}

static void
test_engines(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_reshard_plan *p =
            plan_of(cx, plans[i].mesh, plans[i].src, plans[i].dst);
        protocol *rank;

        if (protocol_of_plan(cx, p, NULL, &rank) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        for (int64_t r = 0; r < p->mesh->n_device; r++)
            if (!does_the_list(cx, p, &rank[r])) {
                print_message("%s: %s to %s: device %" PRId64
                              " does something else than its list\n",
                              plans[i].mesh, plans[i].src, plans[i].dst, r);
                n_wrong++;
            }
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right), cmocka_unit_test(test_bugs),
        cmocka_unit_test(test_gone), cmocka_unit_test(test_engines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
