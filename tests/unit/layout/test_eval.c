/* test_eval.c - requests to the evaluator and their replies, by table: one row
 * for each operation, and one for each way a request can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/eval.h"
#include "axe/machine.h"
#include "base/json.h"

#define TWO "(2, 3) : (3, 1)"
#define REP "(2) : (1) + [2 : 4@w] + 5@w"

/* clang-format off */
static const struct row {
    const char *op, *in, *out; /* "=..." is the result; else "CODE message" */
} rows[] = {
    /* about layouts */
    {"canonicalize", "{\"layout\":\"(2, 1, 3) : (3, 7, 1) + [2 : -4]\"}",
     "={\"D\":[[6,1,\"m\"]],\"R\":[[2,4,\"m\"]],\"O\":{\"m\":-4}}"},
    {"equal", "{\"a\":\"" TWO "\",\"b\":\"(6):(1)\"}", "=true"},
    {"equal", "{\"a\":\"" TWO "\",\"b\":\"(6):(2)\"}", "=false"},
    {"size", "{\"layout\":\"" TWO "\"}", "=6"},
    {"size", "{\"layout\":\"(2, 3, 4):(1@a, 1@b, 2@a)\",\"axis\":\"a\"}", "=8"},
    {"axis_span", "{\"layout\":\"(4):(-2) + 9\",\"axis\":\"m\"}", "=7"},
    {"axis_span", "{\"layout\":\"(4):(-2)\",\"axis\":\"q\"}", "=1"},
    {"cosize", "{\"layout\":\"(4):(2) + 9\",\"axis\":\"m\"}", "=16"},
    {"span", "{\"layout\":\"(4, 2):(2, 1@P) + 9\",\"axis\":null}", "=17"},
    {"span", "{\"layout\":\"(4, 2):(2, 1@P) + 9\",\"axis\":\"P\"}", "=2"},
    {"fiber_size", "{\"layout\":\"" REP "\",\"x\":0}", "=2"},
    {"fiber_size", "{\"layout\":\"" REP "\"}", "=2"},
    {"fiber_size", "{\"layout\":\"" REP "\",\"x\":2}",
     "ESHAPE fiber_size: index 2 is outside [0, 2)"},
    {"injective", "{\"layout\":\"" TWO "\"}", "={\"injective\":true}"},
    {"injective", "{\"layout\":\"(2, 2):(1, 1)\"}",
     "={\"injective\":false,\"witness\":[1,2]}"},
    {"surjective", "{\"layout\":\"(2):(2)\"}", "=false"},
    {"contiguous", "{\"layout\":\"" TWO "\"}", "=true"},
    {"compact", "{\"layout\":\"(2, 3):(1, 2)\"}", "=true"},
    {"apply", "{\"layout\":\"" TWO "\",\"shape\":[2,3],\"coords\":[[1,2],[0,0]]}",
     "=[{\"m\":5},{\"m\":0}]"},
    {"apply", "{\"layout\":\"" TWO "\",\"coords\":[[7],[1,1]]}",
     "=[{\"m\":7},{\"m\":4}]"},
    {"apply", "{\"layout\":\"" REP "\",\"coords\":[[1]]}", "=[{\"m\":1,\"w\":5}]"},
    {"apply", "{\"layout\":\"" REP "\",\"coords\":[[1]],\"set_valued\":true}",
     "=[[{\"m\":1,\"w\":5},{\"m\":1,\"w\":9}]]"},
    {"apply", "{\"layout\":\"(4):(1)\",\"coords\":[[-1]]}",
     "ESHAPE part 0 of a coordinate is -1, outside [0, 4)"},
    {"apply", "{\"layout\":\"(4):(1)\",\"shape\":[4],\"coords\":[[4]]}",
     "ESHAPE part 0 of a coordinate is 4, outside [0, 4)"},
    {"apply", "{\"layout\":\"(4):(1)\",\"shape\":[5],\"coords\":[[4]]}",
     "ESHAPE the shape has 5 elements, the layout 4"},
    {"apply", "{\"layout\":\"(4):(9)\",\"coords\":[[9223372036854775807]]}",
     "EOVERFLOW apply: the coordinate on axis m leaves int64"},
    {"apply", "{\"layout\":\"(4):(1)\",\"coords\":7}",
     "EARG coords must be a list of coordinates, not an integer"},
    {"apply", "{\"layout\":\"(4):(K)\",\"coords\":[[1]]}",
     "EUNSUPPORTED apply: a stride on axis m has a size in it that is known "
     "only at run time"},
    {"apply_set", "{\"layout\":\"" REP "\",\"x\":[0,1]}",
     "=[[[[\"w\",5]],[[\"w\",9]]],[[[\"m\",1],[\"w\",5]],[[\"m\",1],[\"w\",9]]]]"},
    {"apply_set", "{\"layout\":\"(1):(1)\",\"x\":[0]}", "=[[[]]]"},
    /* sorted by axes' names, which come in another order */
    {"apply_set", "{\"layout\":\"(4):(1@z) + [3:1@a] + [2:7@z]\",\"x\":[1]}",
     "=[[[[\"z\",1]],[[\"z\",8]],[[\"a\",1],[\"z\",1]],[[\"a\",1],[\"z\",8]],"
     "[[\"a\",2],[\"z\",1]],[[\"a\",2],[\"z\",8]]]]"},
    {"apply_to_shape", "{\"layout\":\"(4, 2):(2, 1)\",\"shape\":[2,4],\"coord\":[1,3]}",
     "=[1,1,1]"},
    {"text", "{\"layout\":{\"D\":[[2,-1,\"a\"]],\"O\":{\"a\":1}}}",
     "=\"(2) : (-1@a) + 1@a\""},
    {"read", "{\"layout\":\"swizzle<1, 0, 2> o (2):(3*K*M) + K + 2\"}",
     "={\"swizzle\":{\"per_element\":0,\"swizzle_len\":1,\"atom_len\":2,"
     "\"inner\":true},\"tile\":{\"D\":[[2,3,\"m\",\"K*M\"]],\"R\":[],"
     "\"O\":{\"m\":[[2,\"\"],[1,\"K\"]]}}}"},
    {"read", "{\"layout\":{\"D\":[[2,3,\"m\",\"K*M\"]],\"O\":{\"m\":[[2,\"\"],[1,\"K\"]]}}}",
     "={\"D\":[[2,3,\"m\",\"K*M\"]],\"R\":[],\"O\":{\"m\":[[2,\"\"],[1,\"K\"]]}}"},
    {"read", "{\"layout\":\"(2):(1) + [2 : 1@z] + [2 : 1@b] + 1@z + 1@b\"}",
     "={\"D\":[[2,1,\"m\"]],\"R\":[[2,1,\"b\"],[2,1,\"z\"]],\"O\":{\"b\":1,\"z\":1}}"},
    /* the algebra */
    {"group", "{\"layout\":\"(6):(1)\",\"shape\":[2,1,3]}",
     "={\"blocks\":[[[2,3,\"m\"]],[],[[3,1,\"m\"]]],\"layout\":{\"D\":"
     "[[2,3,\"m\"],[3,1,\"m\"]],\"R\":[],\"O\":{}},\"seps\":[0,1,1,2]}"},
    {"group_many", "{\"layout\":\"(12):(1)\",\"shapes\":[[3,4],[12]]}",
     "=[{\"D\":[[3,4,\"m\"],[4,1,\"m\"]],\"R\":[],\"O\":{}},[[0,1,2],[0,2]]]"},
    {"group_many", "{\"layout\":\"(12):(1)\",\"shapes\":3}",
     "EARG shapes must be a list of shapes, not an integer"},
    {"permute_dims", "{\"layout\":\"" TWO "\",\"perm\":[1,0]}",
     "={\"D\":[[3,1,\"m\"],[2,3,\"m\"]],\"R\":[],\"O\":{}}"},
    {"permute_by_groups", "{\"layout\":\"(2, 3, 4):(12, 4, 1)\",\"seps\":[0,1,3],\"perm\":[1,0]}",
     "={\"D\":[[3,4,\"m\"],[4,1,\"m\"],[2,12,\"m\"]],\"R\":[],\"O\":{}}"},
    {"permute_by_groups", "{\"layout\":\"" TWO "\",\"seps\":[0,1],\"perm\":[0]}",
     "ESHAPE seps must begin with 0 and end with 2, the number of iters"},
    {"tile", "{\"outer\":\"" TWO "\",\"outer_shape\":[2,3],\"inner\":\"(2,2):(2,1)\",\"inner_shape\":[2,2]}",
     "={\"D\":[[2,12,\"m\"],[2,2,\"m\"],[3,4,\"m\"],[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"tile_of", "{\"tiled\":\"(6):(1)\",\"tiled_shape\":[6],\"inner\":\"(3):(1)\",\"inner_shape\":[3]}",
     "={\"D\":[[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"is_tile_inner", "{\"tiled\":\"(6):(2)\",\"tiled_shape\":[6],\"inner\":\"(3):(2)\",\"inner_shape\":[3]}",
     "ESHAPE *"},
    {"is_tile_outer", "{\"tiled\":\"(6):(1)\",\"tiled_shape\":[6],\"outer\":\"(2):(1)\",\"outer_shape\":[2]}",
     "={\"D\":[[3,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"tile_to", "{\"layout\":\"(2):(1)\",\"to_shape\":[6],\"current_shape\":[2]}",
     "={\"D\":[[6,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"direct_sum", "{\"left\":\"(2):(2)\",\"left_shape\":[2],\"right\":\"(2):(1)\",\"right_shape\":[2]}",
     "={\"D\":[[4,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"is_direct_sum_left", "{\"sum\":\"(4):(1)\",\"interleaved_shape\":[2,2],\"left\":\"(2):(2)\",\"left_shape\":[2]}",
     "={\"D\":[[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"is_direct_sum_right", "{\"sum\":\"(4):(1)\",\"interleaved_shape\":[2,2],\"right\":\"(2):(1)\",\"right_shape\":[2]}",
     "={\"D\":[[2,2,\"m\"]],\"R\":[],\"O\":{}}"},
    {"slice", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"region\":[[1,3],[2,4]]}",
     "={\"D\":[[2,6,\"m\"],[2,1,\"m\"]],\"R\":[],\"O\":{\"m\":8}}"},
    {"slice", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"region\":[[1,3]]}",
     "ESHAPE slice: the region has 1 dims, the shape 2"},
    {"select", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"dim\":0,\"index\":2}",
     "={\"layout\":{\"D\":[[6,1,\"m\"]],\"R\":[],\"O\":{}},\"offset\":12}"},
    {"select", "{\"layout\":\"(4,6):(6@a,1)+3\",\"shape\":[4,6],\"dim\":0,\"index\":2}",
     "={\"layout\":{\"D\":[[6,1,\"m\"]],\"R\":[],\"O\":{}},\"offset\":{\"m\":3,\"a\":12}}"},
    {"select", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"dim\":2,\"index\":0}",
     "ESHAPE select: there is no index 0 of dim 2 in the shape"},
    {"narrow", "{\"layout\":\"(4,6):(6@a,1)+3\",\"shape\":[4,6],\"dim\":1,\"start\":2,\"length\":3}",
     "={\"layout\":{\"D\":[[4,6,\"a\"],[3,1,\"m\"]],\"R\":[],\"O\":{}},\"offset\":5}"},
    {"narrow", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"dim\":1,\"start\":4,\"length\":3}",
     "ESHAPE narrow: there is no index 4 of dim 1 in the shape, or not 3 from there on"},
    /* TVM's A.sub[2, 1:4, 0:6:2] */
    {"sub", "{\"layout\":\"(4,6,8):(48,8,1)\",\"shape\":[4,6,8],\"index\":[2,[1,4],[0,6,2]]}",
     "={\"layout\":{\"D\":[[3,8,\"m\"],[3,2,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[3,3],\"offset\":104}"},
    {"sub", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"index\":[3]}",
     "={\"layout\":{\"D\":[[6,1,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[6],\"offset\":18}"},
    {"sub", "{\"layout\":\"(4,6):(6,1)\",\"shape\":[4,6],\"index\":[null,[1,6,2]]}",
     "={\"layout\":{\"D\":[[12,2,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[4,3],\"offset\":1}"},
    {"sub", "{\"layout\":\"(7):(3)\",\"shape\":[7],\"index\":[[1,7,3]]}",
     "={\"layout\":{\"D\":[[2,9,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[2],\"offset\":3}"},
    {"sub", "{\"layout\":\"(7):(3)\",\"shape\":[7],\"index\":[[0,7,3]]}",
     "={\"layout\":{\"D\":[[3,9,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[3],\"offset\":0}"},
    {"sub", "{\"layout\":\"((2,2),5):((100,1),7)\",\"shape\":[4,5],\"index\":[[0,4,3],[0,5,2]]}",
     "={\"layout\":{\"D\":[[2,101,\"m\"],[3,14,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[2,3],\"offset\":0}"},
    {"sub", "{\"layout\":\"((2,2),5):((100,1),7)\",\"shape\":[4,5],\"index\":[1,[0,5,3]]}",
     "={\"layout\":{\"D\":[[2,21,\"m\"]],\"R\":[],\"O\":{}},\"shape\":[2],\"offset\":1}"},
    {"sub", "{\"layout\":\"((3,3)):((10,1))\",\"shape\":[9],\"index\":[[0,9,2]]}",
     "ESHAPE compose: no iter list is this map: none agrees with it at index 2 of 5"},
    {"sub", "{\"layout\":\"(7):(3)\",\"shape\":[7],\"index\":[[1,7,9223372036854775807]]}",
     "={\"layout\":{\"D\":[],\"R\":[],\"O\":{}},\"shape\":[1],\"offset\":3}"},
    {"sub", "{\"layout\":\"(4):(1)\",\"shape\":[4],\"index\":[4]}",
     "ESHAPE sub: dim 0 has 4 indices, and [4, 4) is not inside or empty"},
    {"sub", "{\"layout\":\"(4):(1)\",\"shape\":[4],\"index\":[[0,4,0]]}",
     "EARG sub: a part is [begin, end] or [begin, end, step], with a step of at least 1"},
    {"sub", "{\"layout\":\"(4):(1)\",\"shape\":[4],\"index\":[0,0]}",
     "EARG sub: index must be a list of at most 1 parts, not a list"},
    {"inverse", "{\"layout\":\"(2,3):(1,2)\"}", "={\"D\":[[3,1,\"m\"],[2,3,\"m\"]],\"R\":[],\"O\":{}}"},
    {"left_inverse", "{\"layout\":\"(2):(1)\"}", "={\"D\":[[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"compose", "{\"a\":\"(12):(2)\",\"b\":\"(4):(3)\"}", "={\"D\":[[4,6,\"m\"]],\"R\":[],\"O\":{}}"},
    {"complement", "{\"layout\":\"(4):(2)\",\"total\":8}", "={\"D\":[[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"iter_intersection", "{\"i1\":[6,4,\"P\"],\"i2\":[5,6,\"P\"]}", "=[2,12,\"P\"]"},
    {"fuse_axis", "{\"layout\":\"(4,32):(1@warpid,1@laneid)\",\"axis\":\"tx\",\"target\":\"cuda\"}",
     "={\"D\":[[128,1,\"tx\"]],\"R\":[],\"O\":{}}"},
    {"split_axis", "{\"layout\":\"(64):(1@P)\",\"axis\":\"P\"}", "* *"},
    {"storage", "{\"layout\":\"(2,32):(1,1@laneid)\",\"target\":\"cuda\"}", "={\"D\":[[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"pack", "{\"layout\":\"(8):(1)\",\"num\":2}", "={\"D\":[[4,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"unpack", "{\"layout\":\"(4):(1)\",\"num\":2}", "={\"D\":[[8,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"unpack", "{\"layout\":\"(4):(1)\",\"num\":0}", "EARG num is 0: it must be in [1, 2^31)"},
    /* scopes */
    {"differ", "{\"a\":\"(2,3):(3,1)\",\"b\":\"(3,2):(2,1)\"}", "={\"equal\":true,\"in\":\"nothing\"}"},
    {"differ", "{\"a\":\"(2,3):(3,1)\",\"b\":\"(2,3):(4,1)\"}",
     "={\"equal\":false,\"in\":\"the steps of their digits\",\"index\":3,\"least\":true}"},
    {"differ", "{\"a\":\"(4):(K)\",\"b\":\"(4):(M)\"}", "={\"equal\":false,\"in\":\"the steps of their digits\"}"},
    /* TVM's names of our axes; parts and wholes of nested axes */
    {"storage", "{\"layout\":\"(4,32,2):(1@warpid,1@laneid,1)\",\"target\":\"nvidia\"}", "={\"D\":[[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"canonicalize", "{\"layout\":\"(2,4,32):(1@wgid,1@wid_in_wg,1@laneid)\",\"target\":\"nvidia\"}",
     "={\"D\":[[256,1,\"thread\"]],\"R\":[],\"O\":{}}"},
    {"equal", "{\"a\":\"(128):(1@tx)\",\"b\":\"(128):(1@thread)\",\"target\":\"nvidia\"}", "=true"},
    {"tile_of", "{\"tiled\":\"(128):(1@tx)\",\"tiled_shape\":[128],\"inner\":\"(32):(1@laneid)\",\"inner_shape\":[32],\"target\":\"cuda\"}",
     "={\"D\":[[4,1,\"warpid\"]],\"R\":[],\"O\":{}}"},
    {"tile_of", "{\"tiled\":\"(256):(1@tx)\",\"tiled_shape\":[256],\"inner\":\"(4,32):(1@wid_in_wg,1@laneid)\",\"inner_shape\":[128],\"target\":\"cuda\"}",
     "={\"D\":[[2,1,\"wgid\"]],\"R\":[],\"O\":{}}"},
    {"tile_of", "{\"tiled\":\"(4,32):(1@warpid,1@laneid)\",\"tiled_shape\":[128],\"inner\":\"(32):(1@tx)\",\"inner_shape\":[32],\"target\":\"cuda\"}",
     "={\"D\":[[4,1,\"warpid\"]],\"R\":[],\"O\":{}}"},
    {"is_tile_outer", "{\"tiled\":\"(128):(1@tx)\",\"tiled_shape\":[128],\"outer\":\"(4):(1@warpid)\",\"outer_shape\":[4],\"target\":\"nvidia\"}",
     "={\"D\":[[32,1,\"lane\"]],\"R\":[],\"O\":{}}"},
    {"tile_of", "{\"tiled\":\"(8):(24@tx)\",\"tiled_shape\":[8],\"inner\":\"(2):(1@laneid)\",\"inner_shape\":[2],\"target\":\"cuda\"}",
     "ESHAPE *"},
    {"get_scope", "{\"layout\":\"(32):(1@laneid)\"}", "=[\"thread\",\"warp\"]"},
    {"get_scope", "{\"layout\":\"(4,32):(1@warpid,1@laneid)\"}", "=[\"thread\",\"cta\"]"},
    {"get_scope", "{\"layout\":\"(4):(1)\"}", "=null"},
    {"get_scope", "{\"layout\":\"(4,4):(1@wgid,1@laneid)\"}",
     "ESHAPE axis wgid starts at scope warpgroup, but the axes below it end at warp"},
    {"get_scope", "{\"layout\":\"(4,4):(1@tx,1@laneid)\"}",
     "ESHAPE axes laneid and tx both start at scope thread but end at warp and cta"},
    {"verify_well_formed", "{\"layout\":\"(4,4):(1@wgid,1@laneid)\"}", "=false"},
    {"verify_well_formed", "{\"layout\":\"(4,4):(1@wid_in_wg,1@laneid)\"}", "=true"},
    {"canonicalize", "{\"layout\":\"(4,32):(1@warpid,1@laneid)\",\"target\":\"cuda\"}",
     "={\"D\":[[128,1,\"tx\"]],\"R\":[],\"O\":{}}"},
    {"canonicalize", "{\"layout\":\"(32):(1@laneid)\",\"target\":\"cuda\"}",
     "={\"D\":[[32,1,\"laneid\"]],\"R\":[],\"O\":{}}"},
    /* swizzles */
    {"swizzle_apply", "{\"swizzle\":{\"per_element\":0,\"swizzle_len\":1,\"atom_len\":1},\"x\":[0,1,2,3]}",
     "=[0,1,3,2]"},
    {"swizzle_apply", "{\"swizzle\":{\"per_element\":0,\"swizzle_len\":1,\"atom_len\":1,\"inner\":false},\"x\":[0,1,2,3]}",
     "=[0,3,2,1]"},
    {"swizzle_recast", "{\"swizzle\":{\"per_element\":4,\"swizzle_len\":3,\"atom_len\":3,\"unit_bits\":8},\"bits\":16}",
     "={\"per_element\":3,\"swizzle_len\":3,\"atom_len\":3,\"inner\":true}"},
    {"swizzle_detect", "{\"map\":[0,1,3,2]}",
     "={\"per_element\":0,\"swizzle_len\":1,\"atom_len\":1,\"inner\":true}"},
    {"swizzle_apply", "{\"swizzle\":{\"per_element\":0,\"swizzle_len\":2,\"atom_len\":1},\"x\":[0]}", "ESHAPE *"},
    {"swizzle_apply", "{\"swizzle\":{\"per_element\":0,\"swizzle_len\":1,\"atom_len\":-1},\"x\":[0]}",
     "EARG atom_len is -1: it cannot be negative"},
    {"swizzle_apply", "{\"swizzle\":{\"per_element\":0,\"swizzle_len\":4294967296,\"atom_len\":1},\"x\":[0]}",
     "EARG column 77: swizzle_len is 4294967296, far too large"},
    /* made for machines */
    {"wg_local_layout", "{\"cols\":4}", "={\"D\":[[128,1,\"tid_in_wg\"],[4,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"wg_local_layout", "{\"cols\":4,\"rows\":256}",
     "ESHAPE wg_local_layout: 256 rows, but a warpgroup has 128 threads"},
    {"mma_shared_layout", "{\"dtype\":\"float16\",\"swizzle_mode\":3,\"shape\":[8,128]}",
     "={\"swizzle\":{\"per_element\":3,\"swizzle_len\":3,\"atom_len\":3,\"inner\":true},"
     "\"tile\":{\"D\":[[8,64,\"m\"],[2,512,\"m\"],[64,1,\"m\"]],\"R\":[],\"O\":{}}}"},
    {"mma_shared_layout", "{\"dtype\":\"float16\",\"swizzle_mode\":3,\"shape\":[8,96]}",
     "ESHAPE mma_shared_layout: (8, 96) is not made of atoms of (8, 64)"},
    {"mma_shared_layout", "{\"dtype\":\"float7\",\"swizzle_mode\":3,\"shape\":[8,64]}",
     "ETYPE mma_shared_layout: no such element type: float7"},
    {"mma_atom_layout", "{\"dtype\":\"float16\",\"swizzle_mode\":3}",
     "={\"swizzle\":{\"per_element\":3,\"swizzle_len\":3,\"atom_len\":3,\"inner\":true},"
     "\"tile\":{\"D\":[[512,1,\"m\"]],\"R\":[],\"O\":{}}}"},
    {"mma_atom_layout", "{\"dtype\":\"float32\",\"swizzle_mode\":0}",
     "={\"D\":[[32,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"mma_atom_layout", "{\"dtype\":\"float32\",\"swizzle_mode\":4}",
     "EUNSUPPORTED mma_atom_layout: swizzle mode 4; 0 is none, 1, 2, 3 are 32, 64, 128 bytes"},
    {"trainium", "{\"annotation\":\"PF\",\"shape\":[256,8]}",
     "={\"D\":[[2,8,\"F\"],[128,1,\"P\"],[8,1,\"F\"]],\"R\":[],\"O\":{}}"},
    {"trainium", "{\"annotation\":\"PPF\",\"shape\":[2,128,8]}",
     "ESHAPE trainium: 256 partitions; there are 128"},
    {"trainium", "{\"annotation\":\"PX\",\"shape\":[2,128]}",
     "EARG trainium: the annotation needs one letter, P or F, for each of the 2 dims"},
    {"to_psum", "{\"layout\":\"(128,1024):(1@P,1@F)\"}",
     "={\"D\":[[128,1,\"P\"],[2,1,\"Bank\"],[512,1,\"F\"]],\"R\":[],\"O\":{}}"},
    {"to_psum", "{\"layout\":\"(3,300):(300@F,1@F)\"}",
     "ESHAPE to_psum: iter (3 : 300@F) does not stay inside banks of 512"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"16x128b\",\"tensor_shape\":[128,16],\"dtype\":\"float16\"}",
     "={\"D\":[[4,1,\"wid_in_wg\"],[2,8,\"m\"],[2,2,\"m\"],[8,4,\"laneid\"],[2,4,\"m\"],[4,1,\"laneid\"],[2,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"32x32b\",\"tensor_shape\":[128,8],\"dtype\":\"float32\"}",
     "={\"D\":[[128,1,\"tid_in_wg\"],[8,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"32x32b\",\"tensor_shape\":[128,128],\"dtype\":\"float32\"}",
     "={\"D\":[[128,1,\"tid_in_wg\"],[128,1,\"m\"]],\"R\":[],\"O\":{}}"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"16x64b\",\"tensor_shape\":[128,16],\"dtype\":\"float32\"}",
     "={\"D\":[[4,1,\"wid_in_wg\"],[2,8,\"m\"],[2,1,\"laneid\"],[8,4,\"laneid\"],[8,1,\"m\"],[2,2,\"laneid\"]],\"R\":[],\"O\":{}}"},
    {"tmem_mma_operand_layout", "{\"operand\":\"A\",\"shape\":[2,64,16],\"M\":128,\"cta_group\":2}",
     "={\"D\":[[2,64,\"TLane\"],[64,1,\"TLane\"],[16,1,\"TCol\"]],\"R\":[],\"O\":{}}"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"16x64b\",\"tensor_shape\":[64,12],\"dtype\":\"float32\"}",
     "ESHAPE 16x64b moves 2 columns 1, 2, 4 .. 128 times, not 12"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"32x32b\",\"tensor_shape\":[64,32],\"dtype\":\"float16\"}",
     "ESHAPE 64 rows of 32x32b are two parts of columns of 32 bits, not 32 columns of 16"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"32x32b\",\"tensor_shape\":[64,5],\"dtype\":\"float32\"}",
     "ESHAPE 64 rows of 32x32b are two parts of columns of 32 bits, not 5 columns of 32"},
    {"tcgen05_atom_layout", "{\"instr_shape\":\"16x32b\",\"tensor_shape\":[64,8],\"dtype\":\"float32\"}",
     "ESHAPE tcgen05_atom_layout: 32x32b, 16x64b, 16x128b or 16x256b, of 64 or 128 rows of 16 or 32 bits; "
     "this is 16x32b of shape (64, 8), of 32 bits"},
    {"tmem_datapath_layout", "{\"datapath\":\"G\",\"rows\":32,\"cols\":16}",
     "={\"D\":[[32,1,\"TLane\"],[4,32,\"TLane\"],[4,1,\"TCol\"]],\"R\":[],\"O\":{}}"},
    {"tmem_datapath_layout", "{\"datapath\":\"D\",\"rows\":128,\"cols\":8,\"sub_slab\":1}",
     "ESHAPE datapath D has no sub-slab 1"},
    {"tmem_datapath_layout", "{\"datapath\":\"H\",\"rows\":128,\"cols\":8}",
     "ESHAPE there is no datapath H; A to G are"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"A\",\"shape\":[64,16],\"M\":128,\"cta_group\":2}",
     "={\"D\":[[64,1,\"TLane\"],[16,1,\"TCol\"]],\"R\":[[2,64,\"TLane\"]],\"O\":{}}"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"D\",\"shape\":[2,64,16],\"M\":128,\"cta_group\":2}",
     "={\"D\":[[2,64,\"TLane\"],[64,1,\"TLane\"],[16,1,\"TCol\"]],\"R\":[],\"O\":{}}"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"D\",\"shape\":[128,24],\"M\":128,\"cta_group\":1}",
     "={\"D\":[[128,1,\"TLane\"],[24,1,\"TCol\"]],\"R\":[],\"O\":{}}"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"D\",\"shape\":[64,16],\"M\":64,\"cta_group\":2}",
     "ESHAPE no product has 64 rows on 2 CTAs"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"A\",\"shape\":[32,16],\"M\":128,\"cta_group\":2}",
     "ESHAPE datapath B has no factor of shape (32, 16)"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"D\",\"shape\":[2,32,16],\"M\":128,\"cta_group\":2}",
     "ESHAPE datapath B has no operand of shape (2, 32, 16)"},
    {"tmem_mma_operand_layout",
     "{\"operand\":\"D\",\"shape\":[64,16],\"M\":128,\"cta_group\":2,\"group\":[2,2,2]}",
     "ESHAPE the group of an accumulator (rows, cols) is (s, 2, n) with 2 s n = cols; "
     "this is (2, 2, 2), of one of shape (64, 16)"},
    /* wrong requests */
    {"slize", "{}", "ENAME there is no operation \"slize\"; did you mean \"size\"?"},
    {"size", "{}", "EARG size needs the argument \"layout\""},
    {"size", "{\"layout\":\"(2):(1)\",\"shape\":[2]}",
     "ENAME size has no argument \"shape\"; it takes: layout axis?"},
    {"size", "[]", "EARG \"in\" must be an object, not a list"},
    {"size", "{\"layout\":3}", "EARG column 36: layout must be a layout, not an integer"},
    {"size", "{\"layout\":\"(2):(1\"}", "ESYNTAX *"},
    {"size", "{\"layout\":{}}", "EARG D is missing: expected a list of iters"},
    {"size", "{\"layout\":{\"D\":[],\"Q\":1}}", "ENAME column 48: layout has no key \"Q\""},
    {"size", "{\"layout\":{\"D\":[[2,1]]}}",
     "EARG column 42: an iter must be [extent, stride, \"axis\"], not a list"},
    {"size", "{\"layout\":{\"D\":[[2.0,1,\"m\"]]}}",
     "EARG column 43: an extent must be a 64-bit integer, not a number"},
    {"size", "{\"layout\":{\"D\":[[9223372036854775808,1,\"m\"]]}}",
     "EARG column 43: an extent must be a 64-bit integer, not a number"},
    {"size", "{\"layout\":{\"D\":[[0,1,\"m\"]]}}", "ESHAPE *"},
    {"size", "{\"layout\":{\"D\":[[4294967296,1,\"m\"],[4294967296,1,\"m\"]]}}", "EOVERFLOW *"},
    {"size", "{\"layout\":{\"D\":[[2,1,\"9\"]]}}", "ENAME *"},
    {"size", "{\"layout\":{\"D\":[[2,1,\"m\\u0000\"]]}}",
     "EARG column 47: an axis must be a name, not a text"},
    {"size", "{\"layout\":{\"D\":[[2,1,\"m\",\"K*\"]]}}",
     "ESYNTAX column 51: 'K*' is not a product of sizes"},
    {"size", "{\"layout\":{\"D\":[],\"O\":{\"m\":\"x\"}}}",
     "EARG column 53: an offset must be a 64-bit integer, not a text"},
    {"size", "{\"layout\":{\"swizzle\":{},\"tile\":{\"D\":[]}}}",
     "EARG per_element is missing: expected a 64-bit integer"},
    {"size", "{\"layout\":\"(2):(1)\",\"target\":\"nowhere\"}", "ENAME there is no machine 'nowhere'"},
    {"size", "{\"layout\":\"(2):(1)\",\"target\":7}",
     "EARG \"target\" must be the name of a machine, not an integer"},
};

/* Whole lines. */
static const struct line_row {
    const char *in, *out;
} line_rows[] = {
    {"", "{\"id\":null,\"error\":{\"code\":\"ESYNTAX\",\"message\":\"column 1: expected a value\"}}"},
    {"nonsense", "{\"id\":null,\"error\":{\"code\":\"ESYNTAX\",\"message\":\"column 1: expected a value\"}}"},
    {"7\n", "{\"id\":null,\"error\":{\"code\":\"EARG\",\"message\":\"a request is an object, not an integer\"}}"},
    {"{\"id\":[1,{\"\\u00e9\":1.50}]}",
     "{\"id\":[1,{\"\xc3\xa9\":1.50}],\"error\":{\"code\":\"EARG\",\"message\":"
     "\"\\\"op\\\" must be the name of an operation, not nothing\"}}"},
    {"{\"op\":\"size\",\"in\":{\"layout\":\"(2):(1)\"},\"note\":\"kept out\"}\n", "{\"id\":null,\"out\":2}"},
};
/* clang-format on */

static axe_eval *
open_eval(void)
{
    axe_eval_options opt = {.machine = axe_machine_axes};
    axe_eval        *ev = axe_eval_new(&opt);

    assert_non_null(ev);
    return ev;
}

/* `want`: "=result", or "CODE message" where "*" is any. */
static bool
answers(axe_ctx *cx, const char *reply, const char *want)
{
    const axe_json *v = NULL, *e, *text;
    const char     *space = strchr(want, ' ');
    size_t          n = space ? (size_t)(space - want) : 0;

    if (*want == '=')
        return strcmp(reply,
                      axe_textf(cx, "{\"id\":7,\"out\":%s}", want + 1)) == 0;
    assert_int_equal(axe_json_read(cx, reply, strlen(reply), &v), AXE_OK);
    e = axe_json_get(v, "error");
    text = axe_json_get(e, "message");
    if (!e)
        return false;
    if (*want != '*' && strncmp(axe_json_get(e, "code")->text, want, n) != 0)
        return false;
    return strcmp(space, " *") == 0 || strcmp(text->text, space + 1) == 0;
}

static void
test_rows(void **state)
{
    axe_eval *ev = open_eval();
    axe_ctx  *cx = axe_ctx_new();
    int       failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const struct row *r = &rows[i];
        const char       *line =
            axe_textf(cx, "{\"id\":7,\"op\":\"%s\",\"in\":%s}", r->op, r->in);
        const char *reply = axe_eval_line(ev, line, strlen(line));

        if (answers(cx, reply, r->out))
            continue;
        print_error("%s\n    got  %s\n    want %s\n", line, reply, r->out);
        failed++;
    }
    axe_ctx_free(cx);
    axe_eval_free(ev);
    assert_int_equal(failed, 0);
}

/* Without a table of machines there is none, by whatever name. */
static void
test_no_machine(void **state)
{
    static const char line[] = "{\"id\":7,\"op\":\"size\",\"in\":{\"layout\":"
                               "\"(2):(1)\",\"target\":\"sm_90a\"}}";
    axe_eval_options  opt = {.machine = NULL};
    axe_eval         *ev = axe_eval_new(&opt);
    axe_ctx          *cx = axe_ctx_new();

    (void)state;
    assert_true(answers(cx, axe_eval_line(ev, line, sizeof line - 1),
                        "ENAME there is no machine 'sm_90a'"));
    axe_ctx_free(cx);
    axe_eval_free(ev);
}

static void
test_lines(void **state)
{
    axe_eval *ev = open_eval();

    (void)state;
    for (int i = 0; i < AXE_LEN(line_rows); i++)
        assert_string_equal(
            axe_eval_line(ev, line_rows[i].in, strlen(line_rows[i].in)),
            line_rows[i].out);
    axe_eval_free(ev);
}

/* Every operation has a row. */
static void
test_complete(void **state)
{
    static const char *const names[] = {
#define OP(name, handler, keys, what) #name,
#include "layout/eval.def"
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(names); i++) {
        bool used =
            strcmp(names[i], "ops") == 0 || strncmp(names[i], "tmem_", 5) == 0;

        for (int k = 0; k < AXE_LEN(rows); k++)
            used = used || strcmp(rows[k].op, names[i]) == 0;
        if (!used)
            fail_msg("no row for %s", names[i]);
    }
}

static void
test_ops(void **state)
{
    axe_eval       *ev = open_eval();
    axe_ctx        *cx = axe_ctx_new();
    const char     *reply = axe_eval_line(ev, "{\"op\":\"ops\"}", 12);
    const axe_json *v = NULL;

    (void)state;
    assert_int_equal(axe_json_read(cx, reply, strlen(reply), &v), AXE_OK);
    assert_true(axe_json_get(v, "out")->n_child > 40);
    axe_ctx_free(cx);
    axe_eval_free(ev);
}

/* Strict: only axes that the machine declares. */
static void
test_strict(void **state)
{
    static const char ok[] =
        "{\"op\":\"size\",\"in\":{\"layout\":\"(2):(1@laneid)\"}}";
    static const char bad[] =
        "{\"op\":\"size\",\"in\":{\"layout\":\"(2):(1@lameid)\"}}";
    axe_eval_options opt = {axe_machine_axes, "cuda", true, NULL};
    axe_eval        *ev = axe_eval_new(&opt);

    (void)state;
    assert_string_equal(axe_eval_line(ev, ok, sizeof ok - 1),
                        "{\"id\":null,\"out\":2}");
    assert_non_null(strstr(axe_eval_line(ev, bad, sizeof bad - 1), "ENAME"));
    assert_non_null(strstr(axe_eval_line(ev, bad, sizeof bad - 1), "laneid"));
    axe_eval_free(ev);
}

/* A reply does not depend on what was asked before: axes met in another order,
 * many names, an axis that is a thread's elsewhere. */
static void
test_history(void **state)
{
    static const char ask[] =
        "{\"op\":\"canonicalize\",\"in\":{\"layout\":"
        "\"(2):(1@q) + [2 : 1@z] + [2 : 1@a] + 1@z + 1@a\"}}";
    axe_eval *ev = open_eval();
    axe_ctx  *cx = axe_ctx_new();
    char *first = axe_textf(cx, "%s", axe_eval_line(ev, ask, sizeof ask - 1));

    (void)state;
    axe_eval_free(ev);
    ev = open_eval();
    for (int i = 0; i < 5000; i++) {
        char line[200];
        int  n = snprintf(line, sizeof line,
                          "{\"op\":\"size\",\"in\":{\"layout\":"
                           "\"(2, 2):(1@z%d, 1@laneid)\"%s}}",
                          i, i % 100 ? "" : ",\"target\":\"cuda\"");

        assert_string_equal(axe_eval_line(ev, line, (size_t)n),
                            "{\"id\":null,\"out\":4}");
    }
    assert_string_equal(first, axe_eval_line(ev, ask, sizeof ask - 1));
    axe_ctx_free(cx);
    axe_eval_free(ev);
}

/* New names for ever, and large requests, in bounded memory. */
static void
test_memory(void **state)
{
    axe_eval *ev = open_eval();
    char      line[400], name[200];

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < 20000; i++) {
        int n = snprintf(line, sizeof line,
                         "{\"op\":\"size\",\"in\":{\"layout\":"
                         "\"(2, 2):(1@%s%d, K%d)\"}}",
                         name, i, i);

        assert_string_equal(axe_eval_line(ev, line, (size_t)n),
                            "{\"id\":null,\"out\":4}");
        assert_true(axe_eval_bytes(ev) < 2 << 20);
    }
    axe_eval_free(ev);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_lines),
        cmocka_unit_test(test_no_machine), cmocka_unit_test(test_complete),
        cmocka_unit_test(test_ops),        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_history),    cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
