/* lex.h - words, names and numbers of a trace's text. */
#ifndef AXE_TRACE_LEX_H
#define AXE_TRACE_LEX_H

#include "trace/trace.h"

/* What a word names, in its block and those within. */
typedef struct axe_trace_name {
    const char *text;
    size_t      len;
    bool        is_var;
    int         number;
} axe_trace_name;

typedef struct axe_trace_reader {
    axe_ctx         *cx;
    int32_t          source;
    const char      *text, *s, *line;
    int32_t          n_line;
    axe_trace       *out;
    axe_trace_tensor tensor[AXE_TRACE_MAX_TENSORS];
    axe_trace_name   scope[AXE_TRACE_MAX_VARS + AXE_TRACE_MAX_TENSORS];
    int              n_scope, depth;
} axe_trace_reader;

/* Past blanks and comments.  The others do that first. */
void axe_lex_skip(axe_trace_reader *r);
/* How long the word is that comes next; 0: none.  Where it is. */
size_t   axe_lex_word(axe_trace_reader *r);
axe_span axe_lex_here(axe_trace_reader *r, size_t len);
/* Is it this one?  Then, of the takers, past it. */
bool axe_lex_is_word(axe_trace_reader *r, const char *w);
bool axe_lex_take_word(axe_trace_reader *r, const char *w);
bool axe_lex_take(axe_trace_reader *r, char c);
/* Fails: "expected what, not ..." */
axe_status axe_lex_expected(axe_trace_reader *r, const char *what);
/* This character; a name; a number that fits 64 bits.
 * Errors  ESYNTAX, EOVERFLOW */
axe_status axe_lex_need(axe_trace_reader *r, char c);
axe_status axe_lex_need_name(axe_trace_reader *r, const char *what,
                             const char **out);
axe_status axe_lex_number(axe_trace_reader *r, int64_t *out);
/* What the next word names here, innermost first; NULL: nothing. */
const axe_trace_name *axe_lex_named(axe_trace_reader *r);
void axe_lex_declare(axe_trace_reader *r, const char *text, bool is_var,
                     int number);
/* A new variable; its number.
 * Errors  ESYNTAX, ELIMIT */
axe_status axe_lex_new_var(axe_trace_reader *r, int *out);

#endif
