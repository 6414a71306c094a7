# What `cmake --install` puts where: both libraries, the public headers, the
# command, a CMake package (find_package(axe): axe::axe, axe::static) and axe.pc.

include(CMakePackageConfigHelpers)

install(TARGETS axe_static axe_shared EXPORT axe-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET axe_tool)
    install(TARGETS axe_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/axe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/axe)
install(EXPORT axe-targets NAMESPACE axe:: DESTINATION ${package_dir})
write_basic_package_version_file(axe-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES cmake/axe-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/axe-config-version.cmake
    DESTINATION ${package_dir})

# The prefix is found from where axe.pc lies, so the tree may be moved.
file(RELATIVE_PATH AXE_PC_PREFIX
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" AXE_PC_PREFIX "${AXE_PC_PREFIX}")
configure_file(cmake/axe.pc.in axe.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/axe.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
