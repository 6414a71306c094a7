/* test_ranks.c - ranks: what they share, how soon they are there, and who has
 * launched them. */
#include "rank_tests.h"

static void
test_memory(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n += n < 3 ? 1 : 2) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = n};
        axe_status         st = axe_spmd(cx, &o, all_to_all, NULL);

        if (st != AXE_OK)
            fail_msg("%d ranks: %s", n, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

static int
n_open(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Each rank has a file with its number in it, and sees those of all others;
 * nothing but these is open behind it.  user: one of them gives none. */
static axe_status
swaps(axe_ctx *cx, axe_engine *e, void *user)
{
    int64_t    n = axe_engine_size(e), me = axe_engine_rank(e), seen;
    int        mine = memfd_create("mine", 0), all[64], before = n_open();
    axe_status st;

    if (write(mine, &me, sizeof me) != sizeof me)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO, "no file");
    st = engine_swap_descriptors(e, user && me == 1 ? 1 << 20 : mine, all);
    for (int64_t r = 0; r < n && st == AXE_OK; r++) {
        if ((all[r] < 0) != (r == me) ||
            (r != me && (pread(all[r], &seen, sizeof seen, 0) != sizeof seen ||
                         seen != r || close(all[r]) != 0)))
            st = axe_fail(cx, AXE_NOWHERE, AXE_EARG, "not the file of %d",
                          (int)r);
    }
    if (n_open() != before)
        st = axe_fail(cx, AXE_NOWHERE, AXE_EARG, "descriptors are left");
    return st;
}

/* A byte of the token in which a message that goes before each differs, with
 * another file; -1: none goes. */
static int stray_at = -1, stray_file = -1;

ssize_t
sendmsg(int at, const struct msghdr *m, int flags)
{
    static _Alignas(struct cmsghdr) char control[256];
    char                                 token[64];
    struct iovec                         io = {token, m->msg_iov->iov_len};
    struct msghdr                        also = *m;

    if (stray_at >= 0 && m->msg_control) {
        memcpy(token, m->msg_iov->iov_base, io.iov_len);
        token[stray_at] ^= 1;
        memcpy(control, m->msg_control, m->msg_controllen);
        memcpy(CMSG_DATA((struct cmsghdr *)(void *)control), &stray_file,
               sizeof stray_file);
        also.msg_iov = &io;
        also.msg_control = control;
        if (syscall(SYS_sendmsg, at, &also, flags) < 0)
            return -1;
    }
    return syscall(SYS_sendmsg, at, m, flags);
}

/* Messages of another job, rank or round, or that say to have no file. */
static void
test_strays(void **state)
{
    static const int   at[] = {0, 4, 8, 12, 16};
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 3};
    int64_t            none = -1;
    axe_status         st;

    (void)state;
    stray_file = memfd_create("stray", 0);
    assert_int_equal(write(stray_file, &none, sizeof none), sizeof none);
    for (size_t i = 0; i < AXE_LEN(at); i++) {
        stray_at = at[i];
        st = axe_spmd(cx, &o, swaps, NULL);
        stray_at = -1;
        if (st != AXE_OK)
            fail_msg("byte %d: %s", at[i], axe_last_error(cx));
    }
    close(stray_file);
    axe_ctx_free(cx);
}

static void
test_swap(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {0};

    (void)state;
    for (o.n_rank = 1; o.n_rank < 14; o.n_rank += o.n_rank < 3 ? 1 : 5)
        if (axe_spmd(cx, &o, swaps, NULL) != AXE_OK)
            fail_msg("%d ranks: %s", (int)o.n_rank, axe_last_error(cx));
    o.n_rank = 3;
    assert_int_not_equal(axe_spmd(cx, &o, swaps, &o), AXE_OK);
    assert_string_equal(axe_last_error(cx),
                        "engine: giving a descriptor to rank 2: Bad file "
                        "descriptor");
    axe_ctx_free(cx);
}

enum { N_BATCH = 100, N_BARRIER = 20 };

/* t[1]: when the first rank is there; t[2]: the least that a batch took. */
static axe_status
first_barrier(axe_ctx *cx, axe_engine *e, void *user)
{
    double *t = user, begin;

    (void)cx;
    if (axe_engine_rank(e) == 0)
        t[1] = now();
    for (int k = 0; k < N_BATCH; k++) {
        begin = now();
        for (int i = 0; i < N_BARRIER; i++)
            AXE_TRY(axe_engine_barrier(e));
        if (axe_engine_rank(e) == 0 && (k == 0 || now() - begin < t[2]))
            t[2] = now() - begin;
    }
    return AXE_OK;
}

/* Eight ranks on two cores do not spin one another to death: a barrier would
 * take a scheduler's slice, 12 ms or more.  The least counts, since others may
 * have the cores as well. */
static void
test_oversubscribed(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 8};
    double             t[3];

    (void)state;
    t[0] = now();
    assert_int_equal(axe_spmd(cx, &o, first_barrier, t), AXE_OK);
    print_message("8 ranks: first barrier %.3f ms, a barrier %.1f us\n",
                  (t[1] - t[0]) * 1e3, t[2] / N_BARRIER * 1e6);
    assert_true(t[1] - t[0] < 1);
    assert_true(t[2] < N_BARRIER * 5e-3);
    axe_ctx_free(cx);
}

static void
test_launchers(void **state)
{
    /* clang-format off */
    static const struct { const char *set, *want; } row[] = {
        {"", "- 0/1 0/1 shm -"},
        {"RANK=1 WORLD_SIZE=4", "- 0/1 0/1 shm -"},
        {"RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=29500", "torchrun 1/4 1/2 shm torchrun.29500"},
        {"AXE_RANK=2 AXE_SIZE=3 AXE_RENDEZVOUS=a/b RANK=1 WORLD_SIZE=4 MASTER_ADDR=h", "axe 2/3 2/3 shm axe.a/b"},
        {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=7", "openmpi 3/4 1/2 openmpi openmpi.7"},
        {"PMI_RANK=1 PMI_SIZE=2 AXE_RENDEZVOUS=n", "mpich 1/2 1/2 mpich mpich.n"},
        {"SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_JOB_ID=5", "- 0/1 0/1 shm -"},
        {"SLURM_PROCID=3 SLURM_NTASKS=8 SLURM_LOCALID=3 SLURM_JOB_ID=5 SLURM_STEP_ID=0", "srun 3/8 3/8 shm srun.5"},
        {"AXE_RANK=x AXE_SIZE=3", "EARG launch: AXE_RANK is 'x', not a number from 0 to 1024"},
        {"AXE_RANK=3 AXE_SIZE=3", "EARG launch: by axe this is rank 3 of 3, and 3 of 3 on its host"},
    };
    /* clang-format on */
    int n_wrong = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx     *cx = axe_ctx_new();
        axe_launcher l;
        const char  *got;

        set_variables(row[i].set);
        if (axe_launcher_find(cx, &l) != AXE_OK)
            got = axe_textf(cx, "EARG %s", axe_last_error(cx));
        else
            got = axe_textf(
                cx, "%s %" PRId64 "/%" PRId64 " %" PRId64 "/%" PRId64 " %s %s",
                l.launcher ? l.launcher : "-", l.rank, l.size, l.local_rank,
                l.local_size, l.engine, l.job ? l.job : "-");
        if (strcmp(got, row[i].want) != 0) {
            print_message("'%s': %s\n  wanted %s\n", row[i].set, got,
                          row[i].want);
            n_wrong++;
        }
        axe_ctx_free(cx);
    }
    set_variables("");
    assert_int_equal(n_wrong, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_swap),
        cmocka_unit_test(test_strays),    cmocka_unit_test(test_oversubscribed),
        cmocka_unit_test(test_launchers),
    };

    set_variables("");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
