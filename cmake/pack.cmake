# pack: kernels ahead of time, part of the library.  In two stages: make_pack is
# the compiler without any, and writes the C of those that the library gets.

set(pack_out ${PROJECT_BINARY_DIR}/pack)
set(pack_sources pack/none.c)
if(AXE_PACK AND NOT AXE_FUZZ AND NOT CMAKE_CROSSCOMPILING AND
        CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_executable(make_pack pack/make.c pack/none.c ${objects})
    target_link_libraries(make_pack PRIVATE axe_flags ${AXE_LIBS})
    file(GLOB pack_kernels CONFIGURE_DEPENDS kernels/*.axe)
    set(pack_kernel_c)
    set(pack_parts 4)
    math(EXPR last "${pack_parts} - 1")
    foreach(machine avx2 avx512 avx512-bf16)
        foreach(part RANGE ${last})
            list(APPEND pack_kernel_c ${pack_out}/cpu-${machine}-${part}.c)
        endforeach()
    endforeach()
    set(pack_sources ${pack_kernel_c} ${pack_out}/table.c)
    file(MAKE_DIRECTORY ${pack_out})
    add_custom_command(OUTPUT ${pack_out}/stamp
        BYPRODUCTS ${pack_sources}
        COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0
            $<TARGET_FILE:make_pack> ${PROJECT_SOURCE_DIR}/kernels ${pack_out}
            ${pack_parts}
        COMMAND ${CMAKE_COMMAND} -E touch ${pack_out}/stamp
        DEPENDS make_pack ${pack_kernels} pack/pack.def
        COMMENT "Making the kernels of the library")
    add_custom_target(pack_c DEPENDS ${pack_out}/stamp)
    set_source_files_properties(${pack_kernel_c} PROPERTIES
        GENERATED ON COMPILE_OPTIONS
        "-w;-g0;-O1;-fexpensive-optimizations;-ffp-contract=fast;-fno-math-errno;-fno-sanitize=all")
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
        set_source_files_properties(${pack_kernel_c} PROPERTIES
            COMPILE_OPTIONS
            "-w;-g0;-O1;-ffp-contract=fast;-fno-math-errno;-fno-sanitize=all")
    endif()
endif()
add_library(pack OBJECT ${pack_sources})
target_include_directories(pack PRIVATE src include)
set_target_properties(pack PROPERTIES POSITION_INDEPENDENT_CODE ON)
if(TARGET pack_c)
    add_dependencies(pack pack_c)
endif()
