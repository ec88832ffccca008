# cmake --install: the library with its headers, CMake package and pkg-config file; the program with its manual page and
# completions, which it writes itself.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS coppice coppice_usage EXPORT coppice-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The report's page program, a library of its own: it is there if the program was built, which needs node.
set(COPPICE_PC_REPORT "")
if(TARGET coppice_report)
  install(TARGETS coppice_report EXPORT coppice-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(COPPICE_PC_REPORT "-lcoppice_report ")
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/coppice/ ${PROJECT_BINARY_DIR}/generated/coppice/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/coppice FILES_MATCHING PATTERN "*.hpp" PATTERN "app" EXCLUDE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/coppice)
install(EXPORT coppice-targets NAMESPACE coppice:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/coppice-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/coppice-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/coppice-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/coppice-config.cmake
  ${PROJECT_BINARY_DIR}/package/coppice-config-version.cmake DESTINATION ${package_dir})

# From the folder of the file to the prefix, so that the installed tree can be moved.
file(RELATIVE_PATH COPPICE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(JOIN COPPICE_USAGE_OPTIONS " " COPPICE_PC_CFLAGS)
configure_file(${PROJECT_SOURCE_DIR}/tools/coppice.pc.in ${PROJECT_BINARY_DIR}/package/coppice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/coppice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(COPPICE_APP)
  install(TARGETS coppice_app)
  foreach(module coppice_mpi coppice_arrow)
    if(TARGET ${module})
      install(TARGETS ${module} LIBRARY DESTINATION lib/coppice)  # where the program looks: base/module.hpp
    endif()
  endforeach()
  # coppice_write(FILE ARGUMENT...): what the program answers becomes FILE.
  function(coppice_write file)
    get_filename_component(folder ${file} DIRECTORY)
    install(CODE "
      set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")
      file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
      message(STATUS \"Installing: \${to}\")
      execute_process(COMMAND \"$<TARGET_FILE:coppice_app>\" ${ARGN} OUTPUT_FILE \"\${to}\" COMMAND_ERROR_IS_FATAL ANY)
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${to}\")")
  endfunction()
  coppice_write(${CMAKE_INSTALL_MANDIR}/man1/coppice.1 man)
  coppice_write(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/coppice completion bash)
  coppice_write(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_coppice completion zsh)
  coppice_write(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/coppice.fish completion fish)
endif()
