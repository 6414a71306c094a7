include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/axe-targets.cmake)
