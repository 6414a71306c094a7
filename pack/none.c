/* none.c - no kernels ahead of time: for the program that makes them, and for
 * builds that have none. */
#include "run/pack.h"

const axe_pack_entry axe_pack[1];
const int            axe_n_pack = 0;
