# PROGRAM, run with ARGUMENT, prints a line that matches MESSAGE and nothing more, and ends by std::abort.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${EMULATOR} ${PROGRAM} ${ARGUMENT}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(result STREQUAL "0" OR NOT result MATCHES "[Aa]bort|134|6")
  message(FATAL_ERROR "ended with ${result}: ${error}")
endif()
if(output OR NOT error MATCHES "^${MESSAGE}[^\n]*\n$")
  message(FATAL_ERROR "printed\n${output}${error}and not: ${MESSAGE}")
endif()
message(STATUS "${error}")
