/* atom_rows.h - what the rows of an atoms.def of a machine with threads stand
 * for, as initialisers of axe_atom.  Included before each such list, which ends
 * by forgetting it; so there is no guard. */
#ifndef AXE_ATOM_NAMED
#define AXE_ATOM_NAMED(id, by_, cost_, word, code, says)                       \
    .name = #id, .by = AXE_SCOPE_##by_, .cost = (cost_), .needs = (word),      \
    .asm_text = (code), .text = (says)

/* What `wide` says of a row of MMA(). */
enum { plain, fresh, major };
#endif

#define MOVE(id, sort, by_, ty, op, sd, dl, sa, al, sb, from, to, by_step,     \
             bytes, how, slots, word, code, says)                              \
    {AXE_ATOM_NAMED(id, by_, slots, word, code, says),                         \
     .kind = AXE_ATOM_##sort,                                                  \
     .d = (dl),                                                                \
     .a = (al),                                                                \
     .b = "",                                                                  \
     .type = {AXE_TYPE_##ty, AXE_TYPE_##ty, AXE_TYPE_##ty},                    \
     .space = {AXE_ARG_##sd, AXE_ARG_##sa, AXE_ARG_##sb},                      \
     .lo = (from),                                                             \
     .hi = (to),                                                               \
     .step = (by_step),                                                        \
     .align = (bytes),                                                         \
     .group = (how),                                                           \
     .fold = AXE_FOLD_##op},
#define MMA(id, by_, td, ta, tb, dl, sa, al, sb, bl, from, to, by_step, slots, \
            wide, how, word, code, says)                                       \
    PRODUCT(id, by_, td, ta, tb, REG, dl, sa, al, sb, bl, from, to, by_step,   \
            slots, wide, how, word, code, says)
#define AXE_PRODUCT(id, by_, td, ta, tb, sd, dl, sa, al, sb, bl, from, to,     \
                    by_step, slots, wide, how, word, code, says)               \
    AXE_ATOM_NAMED(id, by_, slots, word, code, says),                          \
        .kind = AXE_ATOM_CONTRACT, .d = (dl), .a = (al), .b = (bl),            \
        .type = {AXE_TYPE_##td, AXE_TYPE_##ta, AXE_TYPE_##tb},                 \
        .space = {AXE_ARG_##sd, AXE_ARG_##sa, AXE_ARG_##sb}, .lo = (from),     \
        .hi = (to), .step = (by_step), .group = (how), .fold = AXE_FOLD_SUM,   \
        .fresh = (wide) >= fresh, .major = (wide) == major
#define PRODUCT(id, by_, td, ta, tb, sd, dl, sa, al, sb, bl, from, to,         \
                by_step, slots, wide, how, word, code, says)                   \
    {AXE_PRODUCT(id, by_, td, ta, tb, sd, dl, sa, al, sb, bl, from, to,        \
                 by_step, slots, wide, how, word, code, says)},
#define SCALED(id, td, ta, tb, ts, dl, sa, al, asl, bl, bsl, from, by_step,    \
               slots, wide, how, word, code, says)                             \
    {AXE_PRODUCT(id, THREAD, td, ta, tb, TMEM, dl, sa, al, SHARED, bl, from,   \
                 256, by_step, slots, wide, how, word, code, says),            \
     .scale = {(asl), (bsl)}, .scale_type = AXE_TYPE_##ts},
#define SYNC(id, what, by_, sd, sa, how, op, slots, word, code, says)          \
    {AXE_ATOM_NAMED(id, by_, slots, word, code, says),                         \
     .kind = AXE_ATOM_SYNC,                                                    \
     .d = "",                                                                  \
     .a = "",                                                                  \
     .b = "",                                                                  \
     .sync = AXE_SYNC_##what,                                                  \
     .space = {AXE_ARG_##sd, AXE_ARG_##sa, AXE_ARG_NONE},                      \
     .group = (how),                                                           \
     .fold = AXE_FOLD_##op},
