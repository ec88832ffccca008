# Writes generated/coppice/instruction_set.hpp: the instruction sets that the library is compiled for and that matter to
# its headers, and an error for programs that compile them for others.
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${COPPICE_USAGE_OPTIONS} -dM -E -x c++ /dev/null
  OUTPUT_VARIABLE macros RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the compiler does not take ${COPPICE_USAGE_OPTIONS}; COPPICE_ARCH is '${COPPICE_ARCH}'")
endif()
set(COPPICE_ARCH_CHECKS "")
foreach(name IN ITEMS __FMA__ __AVX__ __AVX2__ __AVX512F__)
  if(macros MATCHES "#define ${name} ")
    string(APPEND COPPICE_ARCH_CHECKS "#ifndef ${name}\n#define COPPICE_OTHER_INSTRUCTION_SET\n#endif\n")
  else()
    string(APPEND COPPICE_ARCH_CHECKS "#ifdef ${name}\n#define COPPICE_OTHER_INSTRUCTION_SET\n#endif\n")
  endif()
endforeach()
set(COPPICE_ARCH_FLAG "the compiler's default")
if(COPPICE_ARCH)
  set(COPPICE_ARCH_FLAG "-march=${COPPICE_ARCH}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/tools/instruction_set.hpp.in
  ${PROJECT_BINARY_DIR}/generated/coppice/instruction_set.hpp @ONLY)
