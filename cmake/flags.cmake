# axe_flags: how every C file of ours is compiled.  The rooms and tests link
# it; it is never installed.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

# Asserts guard against our own bugs and stay on in what we ship.
foreach(type RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${type}
        "${CMAKE_C_FLAGS_${type}}")
endforeach()

add_library(axe_flags INTERFACE)
target_include_directories(axe_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

# gcc cannot see that a status other than AXE_OK never comes without its output,
# so -Wmaybe-uninitialized (of -Wall, at -O2) finds fault with every AXE_TRY.
target_compile_options(axe_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wold-style-definition
    $<$<BOOL:${AXE_WERROR}>:-Werror>
    $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    -fno-semantic-interposition)

if(AXE_FUZZ)
    set(AXE_SANITIZE "fuzzer-no-link,address,undefined")
endif()
if(AXE_SANITIZE)
    add_compile_options(-fsanitize=${AXE_SANITIZE}
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${AXE_SANITIZE})
    # Planning verifies the kernel after each of its passes.
    add_compile_definitions(AXE_VERIFY_PASSES)
endif()
