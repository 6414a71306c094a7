/* conform_trn.h - which rows of conform.h a NeuronCore does not run, and what
 * is said of each. */
#ifndef CONFORM_TRN_H
#define CONFORM_TRN_H

/* clang-format off */
#define NO_F64 "trn1 has no registers for elements of type f64"
#define OTHER_INDEX "the index over partitions is not that of the tile"
#define COUNTED "trn1 runs loops whose counts are known when the kernel is made"
#define LANES "a `cta` holds no scope `lane`"
#define NO_I32 "trn1 has no registers for elements of type i32"
#define EMPTY "has no elements, and a kernel for trn1 writes results all the same"
#define APART "partitions of trn1 do not see one another's elements"
#define NO_FUNCTION "trn1 has no instruction for"
#define NO_NUMBER "a number that trn1 does not compute"
#define NO_ROW "the elements of a partition are no part of a row"
#define NOT_TURNED "does not lie so that the tensor engine can turn it"
#define TWO_INDICES "leaves the tensor, and is of two indices"
#define NO_I64 "trn1 has no registers for elements of type i64"
#define NO_PATTERN "trn1 has no access patterns for subscripts"

static const struct {
    const char *what, *said;
} refused[] = {
    {"gemm of few rows, f64",         NO_F64},
    {"folds side by side, f64",       NO_F64},
    {"least pairs, f64",              NO_F64},
    {"a region by threads",           OTHER_INDEX},
    {"newton's steps",                COUNTED},
    {"a loop to one",                 COUNTED},
    {"threads of warps",              COUNTED},
    {"slices of scopes",              LANES},
    {"gemm f64",                      NO_F64},
    {"gemm i8",                       NO_I32},
    {"gemm no sum",                   EMPTY},
    {"grouped heads",                 APART},
    {"grouped heads, all",            APART},
    {"softmax f64",                   NO_F64},
    {"transpose direct f64",          NO_F64},
    {"transpose f64 odd tile",        NO_F64},
    {"leaky relu",                    NO_FUNCTION},
    {"masks of all widths",           NO_F64},
    {"branches",                      NO_NUMBER},
    {"sums that are read across",     NOT_TURNED},
    {"large numbers of indices",      NO_FUNCTION},
    {"rows shifted by tasks",         TWO_INDICES},
    {"bytes in whole groups",         NO_I32},
    {"bytes and a rest",              NO_I32},
    {"elements that subscripts read", NO_ROW},
    {"windows of a sum",              TWO_INDICES},
    {"sums that wrap",                NO_I32},
    {"two masks in a row",            NO_FUNCTION},
    {"indices far away",              NO_F64},
    {"quotients by scalars",          NO_I64},
    {"quotients below zero",          NO_PATTERN},
    {"a strided factor",              TWO_INDICES},
};
/* clang-format on */

#endif
