/* json.h - JSON in, JSON out, without a library.
 *
 * A value read is an immutable tree in the ctx.  Integers are exact int64;
 * any other number keeps its spelling, so that it can be echoed but never be
 * taken for a size.  Texts are valid UTF-8.  Any bytes whatever may be read:
 * the answer is a tree or a diagnostic with the column.
 */
#ifndef AXE_JSON_H
#define AXE_JSON_H

#include "axe/base.h"

typedef enum axe_json_kind {
    AXE_JSON_NULL,
    AXE_JSON_BOOL,
    AXE_JSON_INT,
    AXE_JSON_REAL,
    AXE_JSON_TEXT,
    AXE_JSON_LIST,
    AXE_JSON_OBJECT
} axe_json_kind;

enum { AXE_JSON_DEPTH = 64 }; /* lists and objects inside one another */

typedef struct axe_json axe_json;
struct axe_json {
    axe_json_kind   kind;
    bool            truth;   /* BOOL */
    int32_t         n_child; /* LIST, OBJECT */
    size_t          col;     /* where it began, from 1 */
    int64_t         integer; /* INT */
    const char     *text;    /* TEXT decoded, REAL as spelt; NUL-terminated */
    size_t          len;     /* of text; a TEXT may hold NULs */
    const char     *key;     /* of a member of an OBJECT, else NULL */
    size_t          key_len;
    const axe_json *child; /* first */
    const axe_json *next;  /* of the same parent */
};

/* Read one value, the whole text but for blanks around it.
 * Errors  ESYNTAX: not JSON (RFC 8259), a key twice in one object, a text that
 *         is not UTF-8; the diagnostic has the column [bytes, from 1].
 *         ELIMIT: nested deeper than AXE_JSON_DEPTH.
 * Cost    O(len), and O(k log k) for an object of k keys. */
AXE_CHECK axe_status axe_json_read(axe_ctx *cx, const char *text, size_t len,
                                   const axe_json **out);

/* The member `key` of an object; NULL if there is none, or v is no object or
 * is NULL. */
const axe_json *axe_json_get(const axe_json *v, const char *key);

/* "null", "a list", ...: for diagnostics. */
const char *axe_json_kind_text(const axe_json *v);

/* Write a text in quotes, escaped; bytes that are not UTF-8 become U+FFFD. */
void axe_json_put_text(axe_buf *b, const char *text, size_t len);
/* Write a value on one line, members in the order read. */
void axe_json_put(axe_buf *b, const axe_json *v);

#endif
