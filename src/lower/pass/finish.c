/* finish.c - the last passes over a grid, in order. */
#include "lower/pass/finish.h"

#include "lower/pass/address.h"
#include "lower/pass/pin.h"
#include "lower/pass/word.h"

void
axe_finish_grid(axe_ctx *cx, const axe_machine *mc, axe_grid *g)
{
    if (g->lanes == 1)
        axe_reconverge(cx, &g->body);
    axe_compute_in_type(cx, mc, &g->body);
    axe_pin_registers(cx, g);
    axe_number_words(cx, &g->body);
    axe_place_shared(cx, g);
}
