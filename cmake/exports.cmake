# axe_export(TARGET): it exports the names that stand in include/axe and no other.

include(CheckLinkerFlag)

# Types stand among the names, too, which newer linkers must be told.
check_linker_flag(C -Wl,--undefined-version AXE_UNDEFINED_VERSION)

function(axe_export target)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/axe/*)
    set_property(DIRECTORY APPEND PROPERTY
        CMAKE_CONFIGURE_DEPENDS ${headers})
    set(names)
    foreach(header IN LISTS headers)
        file(READ ${header} text)
        string(REGEX MATCHALL "axe_[a-z0-9_]+" found "${text}")
        list(APPEND names ${found})
    endforeach()
    list(SORT names)
    list(REMOVE_DUPLICATES names)
    list(JOIN names ";\n    " names)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/exports.map
        CONTENT "{\nglobal:\n    @names@;\nlocal:\n    *;\n};\n" @ONLY)
    target_link_options(${target} PRIVATE
        -Wl,--version-script=${PROJECT_BINARY_DIR}/exports.map
        $<$<BOOL:${AXE_UNDEFINED_VERSION}>:-Wl,--undefined-version>)
    set_property(TARGET ${target} APPEND PROPERTY
        LINK_DEPENDS ${PROJECT_BINARY_DIR}/exports.map)
endfunction()
