# The Python package: the extension module axe._axe, and a package that can be
# imported from the build tree, PYTHONPATH=build/PRESET/python.  A wheel is made
# of the install component `python` (pyproject.toml).
#
# The module keeps to CPython's stable ABI of 3.9, so it is linked with none.

find_package(Python3 3.9 COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND)
    if(SKBUILD)
        message(FATAL_ERROR "Python.h is missing: install python3-dev")
    endif()
    return()
endif()

set(python_out ${PROJECT_BINARY_DIR}/python/axe)
file(GLOB sources CONFIGURE_DEPENDS python/src/*.c)
add_library(axe_python MODULE ${sources})
target_include_directories(axe_python PRIVATE include)
target_include_directories(axe_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_compile_options(axe_python PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wno-cast-function-type
    $<$<BOOL:${AXE_WERROR}>:-Werror>)
target_link_libraries(axe_python PRIVATE axe_static)
set_target_properties(axe_python PROPERTIES
    C_VISIBILITY_PRESET hidden
    PREFIX "" OUTPUT_NAME _axe SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${python_out})
target_link_options(axe_python PRIVATE -Wl,--exclude-libs,ALL)

# Links to what is Python, so that the build tree has the package, too.
file(MAKE_DIRECTORY ${python_out})
file(GLOB files CONFIGURE_DEPENDS python/axe/*.py python/axe/*.pyi python/axe/py.typed)
foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${python_out}/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/kernels ${python_out}/kernels SYMBOLIC)

if(SKBUILD)
    install(TARGETS axe_python LIBRARY DESTINATION axe COMPONENT python)
    file(GLOB kernels CONFIGURE_DEPENDS kernels/*.axe)
    install(FILES ${kernels} DESTINATION axe/kernels COMPONENT python)
    install(TARGETS axe_tool RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR}
        COMPONENT python)
endif()
