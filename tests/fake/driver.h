/* driver.h - how what stands in for NVIDIA's driver defines its functions. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL(name, args)                                                       \
    int cu##name args;                                                         \
    int cu##name args

typedef struct launch_config {
    unsigned grid[3], block[3], shared;
    void    *stream;
    struct {
        int      id, pad;
        unsigned value[16];
    } * attribute;
    unsigned n_attribute;
} launch_config;

typedef struct memory_prop {
    int           type, handle_type, place, device;
    void         *of_windows;
    unsigned char flags[8];
} memory_prop;

typedef struct memory_access {
    int place, device, how;
} memory_access;

typedef struct cast_prop {
    unsigned           n_device;
    size_t             bytes;
    unsigned long long handle_types, flags;
} cast_prop;

/* vmm.c: how many GPUs there are; the driver starts, and a GPU is opened, which
 * gives a result; is there none of what the attribute says? */
int  fake_gpus(void);
int  fake_own(void); /* the GPU of this process */
void fake_start(void);
int  fake_retain(int device);
void fake_release(void);
/* The number that a call of the name is to fail with; things that there are. */
int  fake_fails(const char *name);
void fake_count(int by);
void fake_note(const char *what);
/* The same byte in each of the blocks that an address is one of; how many. */
int  fake_blocks(const void *p, void **out, int most);
bool fake_has_not(int attribute);
/* Is it memory of another process, as of another GPU? */
bool fake_is_others(uint64_t p);
/* A driver's own: bytes that ranks share can be accessed, and no more. */
void fake_mapped(void *at, void *known, size_t bytes);
void fake_unmapped(void *at);

#endif
