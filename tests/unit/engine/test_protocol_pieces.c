/* test_protocol_pieces.c - plans by pieces as lists of steps: nothing is found
 * of a list as it is, in any order; of one that is wrong, what is wrong; and
 * pieces_run.c does what the lists say. */
#include "protocol_lists.h"

#include "engine/pieces.h"

/* Of rows x 4, in pieces of so many rows; the last rank's are of one more. */
typedef struct row {
    const char *mesh, *src, *dst;
    bool        giving, one_by_one;
    int64_t     rows;
} row;

/* clang-format off */
static const row plans[] = {
    {"x=3", "12, 4 + partial(x)", "12@x, 4", true, false, 2},  /* sums */
    {"x=3", "10, 4 + partial(x)", "10@x, 4", true, false, 3},
    {"x=4", "10, 4 + partial(x)", "10@x, 4", true, true, 1},
    {"x=3", "12, 4 + partial(x)", "12, 4", true, false, 2},
    {"x=3", "999, 4 + partial(x)", "999, 4", true, false, 40}, /* by parts */
    {"x=3", "999, 4 + partial(x)", "999, 4", true, true, 400},
    {"x=4", "11@x, 4", "11, 4", true, false, 1},
    {"x=8", "3@x, 4", "3, 4", true, false, 1},      /* some have nothing */
    {"x=2, y=2", "12@x, 4", "12@y, 4", true, false, 2},
    {"x=3", "12, 4", "12@x, 4", true, false, 5},    /* nothing moves */
    {"x=3", "12@x, 4", "12, 4", false, false, 2},
    {"x=3", "10@x, 4", "10, 4", false, false, 3},
    {"x=4", "11@x, 4", "11, 4", false, true, 1},
    {"x=3", "10@x, 4", "10, 4@x", false, false, 2},
    {"x=2, y=2", "12@x, 4", "12@y, 4", false, false, 2},
    {"x=3", "12, 4 + partial(x)", "12@x, 4", false, false, 2},
    {"x=3", "999, 4 + partial(x)", "999, 4", false, false, 40},
    {"x=4", "999, 4 at x=1", "999, 4", false, false, 100},
    {"x=4", "8@x, 4", "8@(x+1), 4", false, false, 1},
    {"x=2", "5@x, 4", "5, 4", false, false, 2},
};
/* clang-format on */

/* [elements] of a rank's piece, which is of whole rows. */
static int64_t
grain_of(const axe_reshard_plan *p, const row *t, int64_t rank)
{
    int64_t n = axe_reshard_held(p, !t->giving, rank), wide = 4;

    if (!t->giving && strcmp(t->dst, "10, 4@x") == 0)
        wide = n > 0 ? n / 10 : 1;
    return wide * (t->rows + (rank == p->mesh->n_device - 1));
}

static protocol *
list_of(axe_ctx *cx, const axe_reshard_plan *p, const row *t)
{
    int64_t   grain[PROTOCOL_RANKS];
    protocol *out = NULL;

    for (int64_t r = 0; r < p->mesh->n_device; r++)
        grain[r] = grain_of(p, t, r);
    if (protocol_of_pieces(cx, p, t->giving, t->one_by_one, grain, &out) !=
        AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return out;
}

static void
test_right(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_reshard_plan *p =
            plan_of(cx, plans[i].mesh, plans[i].src, plans[i].dst);
        axe_sim_report found;

        assert_int_equal(p->n_step, 1);
        simulate(cx, p, list_of(cx, p, &plans[i]), &found);
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

typedef enum bug {
    NO_POST,
    NO_MAKE,
    POST_BEFORE_MAKE,
    TWO_POSTS,
    LEFT_OUT,   /* a piece is said with the one behind it */
    TOO_FEW,    /* that there are no more pieces is not said */
    WAIT_LESS,  /* for the piece before the last that is needed */
    WAIT_BEGIN, /* for what was said at the beginning */
    WAIT_MORE,  /* for more pieces than there are */
    NO_WAIT,
    OTHER_ORDER, /* pieces are made otherwise than peers think */
    MAKE_LESS,
    MAKE_OTHER, /* the elements behind those of the piece */
    OTHER_PEER,
    PULL_BEFORE_WAIT,
    USE_BEFORE_PULL,
    USE_MORE,
    NO_PART,
    PART_TWICE,
    NOT_ADDED,
    NO_MEET,
    EARLY_LEAVE,
    PULL_BEFORE_POST /* of a second phase, which others pull */
} bug;

static void
swap_kinds(protocol *p, protocol_kind a, int na, protocol_kind b, int nb)
{
    swap(step_of(p, a, na), step_of(p, b, nb));
}

static void
mutate_order(axe_ctx *cx, protocol *p, bug b)
{
    protocol_step *post = step_of(p, PROTOCOL_POST, 1);

    switch (b) {
    case NO_POST:
        drop(p, post);
        break;
    case NO_MAKE:
        drop(p, step_of(p, PROTOCOL_MAKE, 1));
        break;
    case POST_BEFORE_MAKE: /* the last of those that the next rank needs */
        post = step_of(p, PROTOCOL_POST, 2);
        swap(post, post - 1);
        break;
    case TWO_POSTS:
        twice(cx, p, post);
        break;
    case LEFT_OUT:
        post->count++;
        break;
    case TOO_FEW:
        for (int i = 0; (post = step_of(p, PROTOCOL_POST, i)); i++)
            if (post->left > 0)
                drop(p, post);
        break;
    case OTHER_ORDER:
        swap_kinds(p, PROTOCOL_MAKE, 0, PROTOCOL_MAKE, 2);
        break;
    case MAKE_LESS:
        step_of(p, PROTOCOL_MAKE, 0)->n--;
        break;
    case MAKE_OTHER:
        step_of(p, PROTOCOL_MAKE, 0)->first++;
        break;
    case NO_MEET:
        drop(p, step_of(p, PROTOCOL_MEET, 0));
        break;
    case EARLY_LEAVE:
        swap_kinds(p, PROTOCOL_MEET, 0, PROTOCOL_LEAVE, 0);
        break;
    case PULL_BEFORE_POST:
        post = step_of(p, PROTOCOL_POST, 0);
        for (int i = 0; step_of(p, PROTOCOL_POST, i); i++)
            if (step_of(p, PROTOCOL_POST, i)->phase == 0)
                post = step_of(p, PROTOCOL_POST, i);
        swap(post, post - 1);
        break;
    default:
        fail_msg("no such bug");
    }
}

static void
mutate(axe_ctx *cx, protocol *p, bug b)
{
    protocol_step *wait = step_of(p, PROTOCOL_WAIT, 0), *pull = pull_of(p, 0);

    switch (b) {
    case WAIT_LESS:
        wait->count--;
        break;
    case WAIT_BEGIN:
        wait->count = 1;
        break;
    case WAIT_MORE:
        wait->count = p->n_post + 1;
        break;
    case NO_WAIT:
        drop(p, wait);
        break;
    case OTHER_PEER:
        pull->peer = (pull->peer + 1) % p->size;
        break;
    case PULL_BEFORE_WAIT:
        swap(pull, pull - 1);
        break;
    case USE_BEFORE_PULL:
        for (int i = 0; step_of(p, PROTOCOL_USE, i); i++)
            if (step_of(p, PROTOCOL_USE, i) > pull) {
                swap(step_of(p, PROTOCOL_USE, i),
                     step_of(p, PROTOCOL_USE, i) - 1);
                break;
            }
        break;
    case USE_MORE:
        step_of(p, PROTOCOL_USE, 0)->n += 4;
        break;
    case NO_PART:
        drop(p, pull);
        break;
    case PART_TWICE:
        twice(cx, p, pull_of(p, 1));
        break;
    case NOT_ADDED:
        pull_of(p, 1)->add = false;
        break;
    default:
        mutate_order(cx, p, b);
    }
}

#define GIVE "x=3", "12, 4 + partial(x)", "12@x, 4", true, false, 2
#define GIVE_PARTS "x=3", "999, 4 + partial(x)", "999, 4", true, false, 400
#define GIVE_FEW "x=4", "11@x, 4", "11, 4", true, false, 1
#define TAKE "x=3", "12@x, 4", "12, 4", false, false, 2
#define TAKE_SUM "x=3", "12, 4 + partial(x)", "12@x, 4", false, false, 2
#define TAKE_PARTS "x=3", "999, 4 + partial(x)", "999, 4", false, false, 400

/* clang-format off */
static const struct {
    bug          bug;
    const char  *name;
    row          of;
    int          rank;
    axe_sim_kind want;
} bugs[] = {
    {NO_POST,          "a piece is not said",              {GIVE}, 0, AXE_SIM_SIGNAL},
    {NO_MAKE,          "a piece is not made",              {GIVE}, 0, AXE_SIM_ARRIVAL},
    {POST_BEFORE_MAKE, "said before it is made",           {GIVE}, 0, AXE_SIM_ARRIVAL},
    {TWO_POSTS,        "a piece is said twice",            {GIVE}, 1, AXE_SIM_SIGNAL},
    {LEFT_OUT,         "a piece said too early",           {GIVE}, 1, AXE_SIM_SIGNAL},
    {TOO_FEW,          "the end of fewer pieces unsaid",   {GIVE_FEW}, 3, AXE_SIM_SIGNAL},
    {WAIT_LESS,        "a wait for a piece too few",       {GIVE}, 1, AXE_SIM_ARRIVAL},
    {WAIT_BEGIN,       "a wait for the beginning",         {GIVE}, 2, AXE_SIM_ARRIVAL},
    {WAIT_MORE,        "a wait for a piece too many",      {GIVE}, 0, AXE_SIM_DEADLOCK},
    {NO_WAIT,          "a wait is missing",                {GIVE}, 2, AXE_SIM_ARRIVAL},
    {OTHER_ORDER,      "another order than peers think",   {GIVE}, 0, AXE_SIM_ARRIVAL},
    {MAKE_LESS,        "an element of a piece is missing", {GIVE}, 0, AXE_SIM_ARRIVAL},
    {MAKE_OTHER,       "a piece made an element further",  {GIVE}, 0, AXE_SIM_ARRIVAL},
    {PULL_BEFORE_WAIT, "an addend before it is there",     {GIVE}, 0, AXE_SIM_ARRIVAL},
    {OTHER_PEER,       "another peer's addend",            {GIVE}, 0, AXE_SIM_CONTENT},
    {NO_MEET,          "a rank that does not meet",        {GIVE}, 1, AXE_SIM_DEADLOCK},
    {EARLY_LEAVE,      "an end before peers are done",     {GIVE}, 1, AXE_SIM_LEFT},
    {PULL_BEFORE_POST, "a sum said before it is made",     {GIVE_PARTS}, 0, AXE_SIM_ARRIVAL},
    {WAIT_LESS,        "a wait for the piece before",      {GIVE_PARTS}, 0, AXE_SIM_ARRIVAL},
    {NO_WAIT,          "a part before it is there",        {TAKE}, 1, AXE_SIM_ARRIVAL},
    {PULL_BEFORE_WAIT, "a part taken before the wait",     {TAKE}, 1, AXE_SIM_ARRIVAL},
    {USE_BEFORE_PULL,  "used before it has come",          {TAKE}, 0, AXE_SIM_CONTENT},
    {USE_MORE,         "more used than has come",          {TAKE}, 0, AXE_SIM_CONTENT},
    {NO_PART,          "a part is missing",                {TAKE}, 2, AXE_SIM_CONTENT},
    {PART_TWICE,       "a part twice",                     {TAKE}, 0, AXE_SIM_WIRE},
    {OTHER_PEER,       "a part of another peer",           {TAKE}, 0, AXE_SIM_WIRE},
    {NOT_ADDED,        "an addend that overwrites",        {TAKE_SUM}, 0, AXE_SIM_CONTENT},
    {PART_TWICE,       "an addend of a piece twice",       {TAKE_SUM}, 2, AXE_SIM_CONTENT},
    {PULL_BEFORE_POST, "the same before pieces are taken", {TAKE_PARTS}, 0, AXE_SIM_ARRIVAL},
    {EARLY_LEAVE,      "an end before peers have taken",   {TAKE}, 0, AXE_SIM_LEFT},
};
/* clang-format on */

static void
test_bugs(void **state)
{
    int n_wrong = 0, n = (int)(sizeof bugs / sizeof bugs[0]);

    (void)state;
    for (int i = 0; i < n; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const row              *t = &bugs[i].of;
        const axe_reshard_plan *p = plan_of(cx, t->mesh, t->src, t->dst);
        protocol               *rank = list_of(cx, p, t);
        axe_sim_report          found;

        mutate(cx, &rank[bugs[i].rank], bugs[i].bug);
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

/* --------------------------------------------------- the engines do the same
 */

/* Ranks one after the other over one memory, in which peers have always come:
 * each writes down what it is asked for. */
typedef struct noted {
    const protocol *p;
    int             at;                        /* the next step of the list */
    int64_t         pieces[PROTOCOL_RANKS][2]; /* grain and number, of all */
    bool            notes, wrong;
} noted;

static bool
is_noted(protocol_kind k)
{
    return k == PROTOCOL_POST || k == PROTOCOL_WAIT || k == PROTOCOL_MAKE ||
           k == PROTOCOL_USE;
}

static const protocol_step *
next(noted *n)
{
    while (n->at < n->p->n_step && !is_noted(n->p->step[n->at].kind))
        n->at++;
    return n->at < n->p->n_step ? &n->p->step[n->at++] : NULL;
}

static void
note_post(axe_engine *e, uint32_t count)
{
    noted               *n = e->state;
    const protocol_step *s = n->notes ? next(n) : NULL;

    n->wrong =
        n->wrong ||
        (n->notes && (!s || s->kind != PROTOCOL_POST || s->count != count));
}

static axe_status
note_wait(axe_engine *e, int64_t peer, uint32_t count)
{
    noted               *n = e->state;
    const protocol_step *s = n->notes ? next(n) : NULL;

    n->wrong = n->wrong || (n->notes && (!s || s->kind != PROTOCOL_WAIT ||
                                         s->peer != peer || s->count != count));
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

/* All say the same, but for how many pieces they have. */
static axe_status
gather(axe_engine *e, const void *mine, int64_t bytes, void *all)
{
    const noted *n = e->state;
    bool         pieces = bytes == sizeof n->pieces[0] &&
                  memcmp(mine, n->pieces[e->rank], sizeof n->pieces[0]) == 0;

    for (int64_t r = 0; r < e->size; r++)
        memcpy((char *)all + r * bytes, pieces ? n->pieces[r] : mine,
               (size_t)bytes);
    return AXE_OK;
}

static const engine_ops noting = {.name = "noting",
                                  .reserve = have,
                                  .barrier = come,
                                  .gather = gather,
                                  .post = note_post,
                                  .await = note_wait};

static axe_status
go(axe_engine *e, engine_pieces *x)
{
    noted  *n = e->state;
    int64_t from, to;

    n->notes = true;
    AXE_TRY(engine_pieces_begin(x));
    for (;;) {
        const protocol_step *s;

        AXE_TRY(engine_pieces_next(x, &from, &to));
        if (from < 0)
            break;
        s = next(n);
        n->wrong = n->wrong || !s ||
                   (s->kind != PROTOCOL_MAKE && s->kind != PROTOCOL_USE) ||
                   s->first != from || s->n != to - from;
        AXE_TRY(engine_pieces_done(x));
    }
    AXE_TRY(engine_pieces_end(x));
    n->wrong = n->wrong || next(n);
    return AXE_OK;
}

/* Prepares a rank; *go_on: and lets it do its pieces. */
static axe_status
rank_does(axe_engine *e, const axe_reshard_plan *p, const row *t, bool go_on)
{
    engine_pieces_spec spec = {.plan = p,
                               .type = AXE_NUMBER_I64,
                               .giving = t->giving,
                               .grain = grain_of(p, t, e->rank),
                               .one_by_one = t->one_by_one};
    int64_t            room = axe_reshard_heap(p) / 2;
    engine_pieces     *x;

    AXE_TRY(axe_engine_alloc(e, room, &spec.src));
    AXE_TRY(axe_engine_alloc(e, room, &spec.dst));
    AXE_TRY(engine_pieces_new(e, &spec, &x));
    return go_on ? go(e, x) : AXE_OK;
}

static int
count_wrong(axe_ctx *cx, const axe_reshard_plan *p, const row *t)
{
    int64_t      stride = axe_reshard_heap(p) + ENGINE_PIECES_HEAP + 4096;
    int64_t      size = p->mesh->n_device;
    char        *heap = axe_alloc(cx, (size_t)(stride * size));
    protocol    *rank = list_of(cx, p, t);
    static noted n;
    int          n_wrong = 0;

    n = (noted){0};
    for (int64_t r = 0; r < size; r++) {
        int64_t all = axe_reshard_held(p, !t->giving, r);

        n.pieces[r][0] = grain_of(p, t, r);
        n.pieces[r][1] = (all + n.pieces[r][0] - 1) / n.pieces[r][0];
    }
    /* once for the orders of all, which peers read then */
    for (int64_t i = 0; i < 2 * size; i++) {
        axe_engine e = {.ops = &noting,
                        .cx = cx,
                        .rank = i % size,
                        .size = size,
                        .heap = heap,
                        .stride = stride,
                        .room = stride,
                        .addressed = true,
                        .state = &n};

        n.p = &rank[i % size];
        n.at = 0;
        n.notes = n.wrong = false;
        if (rank_does(&e, p, t, i >= size) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        n_wrong += n.wrong;
    }
    return n_wrong;
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
        int wrong = count_wrong(cx, p, &plans[i]);

        if (wrong > 0)
            print_message("%s: %s to %s: %d devices do something else than "
                          "their lists\n",
                          plans[i].mesh, plans[i].src, plans[i].dst, wrong);
        n_wrong += wrong;
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
}

/* Two ranks with 1 of 2 elements, which each uses: what is its own at once, and
 * what the other has when it has come. */
typedef struct spans {
    double moved, used; /* the last of rank 0: when they end */
    int    n_use;
} spans;

static void
note_span(void *user, int64_t rank, double begin, double end,
          protocol_work what)
{
    spans *s = user;

    assert_true(begin < end);
    if (rank != 0)
        return;
    if (what == PROTOCOL_MOVES)
        s->moved = end;
    if (what != PROTOCOL_COMPUTES)
        return;
    s->n_use++;
    if (s->n_use == 2)
        assert_true(begin == s->moved);
    s->used = end;
}

static void
test_times(void **state)
{
    static const row        t = {"x=2", "2@x, 4", "2, 4", false, false, 1};
    axe_ctx                *cx = axe_ctx_new();
    const axe_reshard_plan *p = plan_of(cx, t.mesh, t.src, t.dst);
    const int64_t           grain[] = {4, 4};
    const double            each[] = {1, 1};
    double                  now[2] = {0};
    spans                   seen = {0};
    protocol_times          times = {now, each, note_span, &seen};
    protocol_run            r = {
                   .plan = p, .type = AXE_NUMBER_I64, .what = "a plan", .times = &times};
    protocol      *rank;
    axe_sim_report found = {0};

    (void)state;
    if (protocol_of_pieces(cx, p, false, false, grain, &rank) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    r.rank = rank;
    if (protocol_simulate(cx, &r, &found) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    assert_int_equal(found.n_finding, 0);
    assert_int_equal(seen.n_use, 2);
    assert_true(seen.moved > 8 && seen.used == seen.moved + 4);
    assert_true(now[0] == seen.used);
    axe_ctx_free(cx);
}

static void
test_too_many(void **state)
{
    axe_ctx                *cx = axe_ctx_new();
    const axe_reshard_plan *p =
        plan_of(cx, "x=2", "600, 4 + partial(x)", "600@x, 4");
    const int64_t grain[] = {4, 8};
    protocol     *out;

    (void)state;
    assert_int_equal(protocol_of_pieces(cx, p, true, false, grain, &out),
                     AXE_ELIMIT);
    assert_string_equal(axe_last_error(cx),
                        "reshard: rank 0 has 600 pieces; 256 go: make them "
                        "larger");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right), cmocka_unit_test(test_bugs),
        cmocka_unit_test(test_engines), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_times)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
