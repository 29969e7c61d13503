# Install rules and what lets other projects find the result: a CMake package and pkg-config files.
# Everything in it is relative to its own place, so an installed tree may be moved as a whole.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scope-profiler)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES include/scope_profiler.h include/scope_profiler.hpp include/scope_profiler_disabled.h
        include/scope_profiler_functions.h include/scope_profiler.c
        include/scope_results.h include/scope_live.h include/scope_plugin.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES bindings/fortran/scope_profiler.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fortran)
install(TARGETS scope-profiler RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

if(SKBUILD)
  set(namelink NAMELINK_SKIP)
  sp_install_linker_scripts()
else()
  install(TARGETS scope_profiler_static scope_results_static EXPORT scope-profiler-static-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT scope-profiler-static-targets NAMESPACE scope-profiler:: DESTINATION ${package_dir})
endif()
install(TARGETS scope_profiler scope_results scope_profiler_cpp scope_profiler_header_only
        EXPORT scope-profiler-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${namelink})
install(EXPORT scope-profiler-targets NAMESPACE scope-profiler:: DESTINATION ${package_dir})

set(pkgconfig_files scope_profiler scope_results)
if(TARGET scope_profiler_fortran)
  install(TARGETS scope_profiler_fortran EXPORT scope-profiler-fortran-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES $<TARGET_PROPERTY:scope_profiler_fortran,Fortran_MODULE_DIRECTORY>/scope_profiler.mod
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fortran)
  install(EXPORT scope-profiler-fortran-targets NAMESPACE scope-profiler:: DESTINATION ${package_dir})
  list(APPEND pkgconfig_files scope_profiler_fortran)
endif()

configure_package_config_file(cmake/scope-profiler-config.cmake.in scope-profiler-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(scope-profiler-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/scope-profiler-config.cmake
        ${PROJECT_BINARY_DIR}/scope-profiler-config-version.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH pkgconfig_include ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}
     ${CMAKE_INSTALL_FULL_INCLUDEDIR})
foreach(library IN LISTS pkgconfig_files)
  configure_file(cmake/${library}.pc.in ${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig_dir})
endforeach()
