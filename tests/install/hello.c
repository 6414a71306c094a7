/* hello.c - a stranger's program: reads a layout and prints it. */
#include <axe/machine.h>
#include <stdio.h>

int
main(void)
{
    const char       *text = "(8, 2) : (2@lane, 1@reg)";
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l;

    if (!cx || axe_axes_load(cx, axe_machine_axes("nvidia")) ||
        axe_layout_read(cx, text, &l)) {
        printf("%s\n", cx ? axe_last_error(cx) : "no memory");
        return 1;
    }
    printf("axe %s: %s\n", AXE_VERSION, axe_layout_text(cx, l));
    axe_ctx_free(cx);
    return 0;
}
