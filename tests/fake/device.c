/* device.c - what every driver of the tests answers alike: there is one device,
 * whose work is done when a call returns. */
#include "driver.h"

CALL(DriverGetVersion, (int *version))
{
    *version = 13000;
    return 0;
}

CALL(DeviceGet, (int *device, int number))
{
    *device = number;
    return 0;
}

CALL(DevicePrimaryCtxRelease_v2, (int device))
{
    (void)device;
    fake_release();
    return 0;
}
