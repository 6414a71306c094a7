/* canvas.c - pictures as SVG: lines, grids and their colours. */
#include "view/canvas.h"

#include <string.h>

static const char style[] =
    "<style>\n"
    "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,"
    "monospace;font-size:10px;fill:#1f2937}\n"
    ".title{font-size:14px;font-weight:600}\n"
    ".sub{font-size:12px;fill:#4b5563}\n"
    ".head{fill:#6b7280}\n"
    ".c{stroke:#ffffff;stroke-width:1}\n"
    ".hole{fill:url(#hole);stroke:#d1d5db}\n"
    ".tile{stroke:#4b5563;stroke-width:1}\n"
    ".clash{fill:none;stroke:#b91c1c;stroke-width:2}\n"
    "</style>\n"
    "<defs><pattern id=\"hole\" width=\"6\" height=\"6\" "
    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<rect width=\"6\" height=\"6\" fill=\"#f9fafb\"/>"
    "<rect width=\"2\" height=\"6\" fill=\"#d1d5db\"/></pattern></defs>\n";

static void
put_escaped(axe_buf *b, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<':
            axe_puts(b, "&lt;");
            break;
        case '>':
            axe_puts(b, "&gt;");
            break;
        case '&':
            axe_puts(b, "&amp;");
            break;
        default:
            axe_putc(b, *s);
        }
}

void
view_put_text(view_canvas *c, int x, int y, const char *class,
              const char *anchor, const char *s)
{
    axe_putf(c->out, "<text x=\"%d\" y=\"%d\"", x, y);
    if (*class)
        axe_putf(c->out, " class=\"%s\"", class);
    if (strcmp(anchor, "start") != 0)
        axe_putf(c->out, " text-anchor=\"%s\"", anchor);
    axe_putc(c->out, '>');
    put_escaped(c->out, s);
    axe_puts(c->out, "</text>\n");
}

void
view_put_rect(view_canvas *c, int x, int y, int w, int h, const char *class,
              const char *fill)
{
    axe_putf(c->out,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"%s\"",
             x, y, w, h, class);
    if (fill)
        axe_putf(c->out, " fill=\"%s\"", fill);
    axe_puts(c->out, "/>\n");
    if (x + w > c->right)
        c->right = x + w;
}

void
view_put_line(view_canvas *c, const char *class, const char *s)
{
    int letter = strcmp(class, "title") == 0 ? 9 : 8;
    int end = VIEW_MARGIN + letter * (int)strlen(s);

    view_put_text(c, VIEW_MARGIN, c->y + 12, class, "start", s);
    c->y += 20;
    if (end > c->right)
        c->right = end;
}

const char *
view_color(axe_ctx *cx, int64_t k, int64_t n)
{
    static const int stop[][3] = {
        {254, 240, 178}, {190, 236, 190}, {165, 221, 235},
        {183, 200, 250}, {222, 190, 245}, {252, 196, 214},
    };
    int at = 0, part = 0, rgb[3];

    if (n > 1) {
        int64_t steps = 1000 * (AXE_LEN(stop) - 1);
        int64_t pos = n <= 1 << 20 ? k * steps / (n - 1)
                                   : k / (n >> 20) * steps / (1 << 20);

        at = (int)(pos / 1000);
        part = (int)(pos % 1000);
    }
    if (at < 0 || at >= AXE_LEN(stop) - 1) {
        at = AXE_LEN(stop) - 2;
        part = 1000;
    }
    for (int i = 0; i < 3; i++)
        rgb[i] = (stop[at][i] * (1000 - part) + stop[at + 1][i] * part) / 1000;
    return axe_textf(cx, "#%02x%02x%02x", (unsigned)rgb[0], (unsigned)rgb[1],
                     (unsigned)rgb[2]);
}

void
view_canvas_end(const view_canvas *c, const char *title, axe_buf *out)
{
    int w = c->right + VIEW_MARGIN, h = c->y + VIEW_MARGIN;

    axe_putf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
             "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
             w, h, w, h);
    put_escaped(out, title);
    axe_puts(out, "</title>\n");
    axe_puts(out, style);
    axe_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    axe_putn(out, c->out->text, c->out->len);
    axe_puts(out, "</svg>\n");
}
