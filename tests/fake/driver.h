/* driver.h - how what stands in for NVIDIA's driver defines its functions. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#define CALL(name, args)                                                       \
    int cu##name args;                                                         \
    int cu##name args

#endif
