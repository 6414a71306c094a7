/* list.c - growing lists.  The old block stays in the arena: doubling bounds
 * the waste by the size of the list itself. */
#include <string.h>

#include "ir/list.h"

void
axe_list_push(axe_list *l, const void *item)
{
    if (l->n == l->cap) {
        int          cap = l->cap ? 2 * l->cap : 4;
        const void **grown = axe_new_array(l->cx, const void *, cap);
        if (l->n > 0)
            memcpy(grown, l->item, (size_t)l->n * sizeof grown[0]);
        l->item = grown;
        l->cap = cap;
    }
    l->item[l->n++] = item;
}

bool
axe_list_has(const axe_list *l, const void *item)
{
    for (int i = l->n - 1; i >= 0; i--)
        if (l->item[i] == item)
            return true;
    return false;
}
