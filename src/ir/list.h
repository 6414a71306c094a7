/* list.h - a growing list of pointers in ctx memory; start with {.cx = cx}. */
#ifndef AXE_LIST_H
#define AXE_LIST_H

#include "axe/base.h"

typedef struct axe_list {
    axe_ctx     *cx;
    int          n, cap;
    const void **item; /* NULL while n == 0 */
} axe_list;

void axe_list_push(axe_list *l, const void *item);
bool axe_list_has(const axe_list *l, const void *item);

#endif
