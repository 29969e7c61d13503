# A Python package around a core that is already built: what is installed below its prefix is copied
# into the package as if it had been built here.

set(core ${SCOPE_PROFILER_CORE_DIR})
if(NOT EXISTS ${core}/lib/libscope_profiler.so.${PROJECT_VERSION_MAJOR})
  message(FATAL_ERROR "SCOPE_PROFILER_CORE_DIR=${core}: no lib/libscope_profiler.so."
          "${PROJECT_VERSION_MAJOR} there; install the core with CMAKE_INSTALL_LIBDIR=lib")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${core}/lib/libscope_profiler.so.${PROJECT_VERSION_MAJOR})

install(DIRECTORY ${core}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "scope_*.h*" PATTERN "scope_profiler.c" PATTERN "scope_profiler.f90" PATTERN "scope_profiler.mod")
install(PROGRAMS ${core}/lib/libscope_profiler.so.${PROJECT_VERSION_MAJOR}
        ${core}/lib/libscope_results.so.${PROJECT_VERSION_MAJOR} DESTINATION ${CMAKE_INSTALL_LIBDIR})
sp_install_linker_scripts()
install(DIRECTORY ${core}/lib/cmake/scope-profiler DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake
        PATTERN "*static*" EXCLUDE)
install(DIRECTORY ${core}/lib/pkgconfig DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILES_MATCHING PATTERN "scope_*.pc")
if(EXISTS ${core}/lib/libscope_profiler_fortran.a)
  install(FILES ${core}/lib/libscope_profiler_fortran.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(EXISTS ${core}/lib/scope-profiler)
  install(DIRECTORY ${core}/lib/scope-profiler DESTINATION ${CMAKE_INSTALL_LIBDIR}
          USE_SOURCE_PERMISSIONS)
endif()
install(PROGRAMS ${core}/bin/scope-profiler DESTINATION ${CMAKE_INSTALL_BINDIR})
if(EXISTS ${core}/share/man/man1)
  install(DIRECTORY ${core}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
