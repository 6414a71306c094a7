/* driver.h - how what stands in for NVIDIA's driver defines its functions. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

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

#endif
