/* scan.h - the characters of a layout literal: blanks, names, numbers, and
 * products of them. */
#ifndef AXE_LAYOUT_SCAN_H
#define AXE_LAYOUT_SCAN_H

#include "layout/layout_int.h"

/* The bytes [from, to) of a text as a place in its source. */
axe_span axe_text_span(int32_t source, const char *text, size_t from,
                       size_t to);
/* The first place from `at` on that is no blank:
 * blank = " " | "\t" | "\r" | "\n" | "//" to the end of the line */
size_t axe_text_blanks(const char *text, size_t len, size_t at);

typedef struct axe_reader {
    axe_ctx               *cx;
    int32_t                source;
    const char            *text;
    size_t                 len, at;
    const axe_literal_env *env;
} axe_reader;

static inline bool
axe_is_digit(char c)
{
    return '0' <= c && c <= '9';
}

/* The bytes [from, to) of the text as a place in its source. */
axe_span axe_scan_span(const axe_reader *r, size_t from, size_t to);

/* Skip blanks and comments.  The next character, or '\0' at the end. */
char axe_scan_peek(axe_reader *r);
/* Skip blanks, then `c` (or the whole word) if it comes next. */
bool axe_scan_take(axe_reader *r, char c);
bool axe_scan_word(axe_reader *r, const char *word);

/* Report what stands here instead of `what`. */
axe_status axe_scan_expected(axe_reader *r, const char *what);

/* Length of the name that begins right here, 0 if none does; and the name,
 * taken, or NULL. */
size_t      axe_scan_name_length(const axe_reader *r);
const char *axe_scan_name(axe_reader *r);

/* number = digit { digit }, negative if so asked: INT64_MIN can be written. */
AXE_CHECK axe_status axe_scan_number(axe_reader *r, bool negative,
                                     int64_t *out);

/* scaled = [ "-" ] factor { "*" factor }
 * factor = number | size | constant
 *
 * what  names it if it is missing */
AXE_CHECK axe_status axe_scan_scaled(axe_reader *r, const char *what,
                                     int64_t *value, axe_unit *unit);

#endif
