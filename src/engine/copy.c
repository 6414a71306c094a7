/* copy.c - bytes from one buffer to another.
 *
 * What is long goes past the caches: a plain store reads the line that it is
 * about to overwrite, which is a third of what a long copy moves. */
#include "engine/memory.h"

#include <stdint.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>

enum {
    LONG = 1 << 20, /* bytes: with its like it is more than a core's cache */
    AHEAD = 1024,   /* bytes between what is copied and what is fetched */
    LINE = 64
};

/* Lines; to: of 16 bytes.  These stores are in no order with others before the
 * fence. */
static void
stream(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE) {
        __m128i       *t = (void *)(to + i);
        const __m128i *f = (const void *)(from + i);

        _mm_prefetch(from + i + AHEAD, _MM_HINT_T0);
        for (int k = 0; k < LINE / 16; k++)
            _mm_stream_si128(&t[k], _mm_loadu_si128(&f[k]));
    }
    _mm_sfence();
}

void
engine_copy(void *to, const void *from, size_t bytes)
{
    size_t      head = -(uintptr_t)to % 16, body;
    char       *t = to;
    const char *f = from;

    if (bytes < LONG) {
        memcpy(to, from, bytes);
        return;
    }
    body = (bytes - head) / LINE * LINE;
    memcpy(t, f, head);
    stream(t + head, f + head, body);
    memcpy(t + head + body, f + head + body, bytes - head - body);
}

#else

void
engine_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
