/* sockets.c - what TCP takes of the core that computes: two ranks send one
 * another BYTES by one socket that never blocks, with a look at it each MS
 * milliseconds, and count the time in send() and recv() alone.  No engine that
 * goes by TCP can hide that.  Built by mpicc, run by bench/dist/run_fused.
 *
   sockets ADDRESS BYTES MS ROUNDS   ADDRESS is rank 0's
 *
 * Prints "sockets US", rank 0's median over rounds. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../clock.h"

enum { MOST = 1 << 10, AT_ONCE = 1 << 18, US = 1000000 };

static double
now_us(void)
{
    return US * clock_seconds(CLOCK_MONOTONIC);
}

/* Rank 0 says by MPI where it listens.  < 0: it can't be had. */
static int
meet(const char *address, int rank)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t          n = sizeof a;
    int                s = socket(AF_INET, SOCK_STREAM, 0), one = 1, out = s;

    if (s < 0 || inet_pton(AF_INET, address, &a.sin_addr) != 1)
        return -1;
    if (rank == 0 &&
        (bind(s, (struct sockaddr *)&a, n) < 0 || listen(s, 1) < 0 ||
         getsockname(s, (struct sockaddr *)&a, &n) < 0))
        return -1;
    MPI_Bcast(&a.sin_port, sizeof a.sin_port, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        out = accept(s, NULL, NULL);
    else if (connect(s, (struct sockaddr *)&a, n) < 0)
        return -1;
    if (out < 0 ||
        setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
        fcntl(out, F_SETFL, O_NONBLOCK) < 0)
        return -1;
    return out;
}

/* As much as goes; false: the socket is broken. */
static bool
go_on(int s, char *at, size_t n, size_t *done, bool sends)
{
    while (*done < n) {
        size_t  left = n - *done < AT_ONCE ? n - *done : AT_ONCE;
        ssize_t k = sends ? send(s, at + *done, left, MSG_NOSIGNAL)
                          : recv(s, at + *done, left, 0);

        if (k < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (k <= 0)
            return false;
        *done += (size_t)k;
    }
    return true;
}

/* < 0: the socket is broken. */
static double
once(int s, char *out, char *in, size_t n, double look_us)
{
    size_t sent = 0, got = 0;
    double spent = 0;

    while (sent < n || got < n) {
        double begin = now_us(), t;

        if (!go_on(s, out, n, &sent, true) || !go_on(s, in, n, &got, false))
            return -1;
        t = now_us();
        spent += t - begin;
        while (now_us() < t + look_us && (sent < n || got < n))
            ;
    }
    return spent;
}

int
main(int argc, char **argv)
{
    static double us[MOST];
    int           rank, s, rounds;
    size_t        n;
    char         *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 5)
        return 2;
    n = (size_t)atoll(argv[2]);
    rounds = atoi(argv[4]) < MOST ? atoi(argv[4]) : MOST;
    out = calloc(n, 1);
    in = calloc(n, 1);
    s = meet(argv[1], rank);
    for (int i = 0; i < rounds; i++) {
        us[i] = s < 0 || !out || !in
                    ? -1
                    : once(s, out, in, n, 1000 * atof(argv[3]));
        if (us[i] < 0) {
            perror("sockets");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0 && rounds > 0)
        printf("sockets %.0f\n", median_of(us, rounds));
    close(s);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
