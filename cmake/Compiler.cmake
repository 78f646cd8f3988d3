# Warnings, sanitizers and coverage, the same for every target. Link-time optimisation was measured: it gains nothing here.

option(TRACELOOM_WERROR "Warnings are errors" OFF)
option(TRACELOOM_COVERAGE "Count which lines run" OFF)
set(TRACELOOM_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: address,undefined or thread or memory")

add_compile_options(-Wall -Wextra -Wshadow -Wconversion)
add_compile_definitions(_GNU_SOURCE)
if(TRACELOOM_WERROR)
  add_compile_options(-Werror)
endif()
if(TRACELOOM_SANITIZE)
  add_compile_options(-fsanitize=${TRACELOOM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRACELOOM_SANITIZE})
  # GCC warns that it ignores fences. The recorder's reader has one, between loads that are atomic themselves.
  if(TRACELOOM_SANITIZE MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
  if(TRACELOOM_SANITIZE MATCHES "undefined")
    # A finding must fail the test that made it, not only print.
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
if(TRACELOOM_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
