/* read.h - what the readers of PTX share. */
#ifndef PTX_READ_H
#define PTX_READ_H

#include "ptx.h"

#define LEN(a) (sizeof(a) / sizeof(a)[0])

enum { MAX_NAME = 96, MAX_SCOPE = 8, MAX_OPERAND = 1024 };

typedef struct declared {
    char name[MAX_NAME];
    int  bits, first, n; /* `%r<10>` is ten registers; n = 0: a name */
    int  scope;          /* that it ends with */
} declared;

typedef struct label {
    char name[MAX_NAME];
    int  at;
} label;

typedef struct reader {
    const char *s;
    int         line;
    char       *said;
    size_t      n_said;
    bool        bad;
    ptx_kernel *k;
    declared   *names;
    int         n_name, scope;
    label      *label, *jump; /* jump: what an instruction wants */
    int         n_label, n_jump;
    ptx_operand op[MAX_OPERAND];
    int         n_op;
} reader;

/* What is wrong, at this line; the first stays. */
void read_fail(reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for one more than n. */
void *read_grow(void *p, int n, size_t size);

void read_skip(reader *r);
bool read_eat(reader *r, char c);
void read_want(reader *r, char c);
bool read_in_word(char c);

/* Letters, and `extra` ones. */
const char *read_word(reader *r, char out[MAX_NAME], const char *extra);

/* A constant expression, of operators that bind more than `least`. */
uint64_t read_number(reader *r, int least);

/* The register, or what else is named. */
ptx_operand read_operand(reader *r, const char *text);
void        read_instruction(reader *r);

#endif
