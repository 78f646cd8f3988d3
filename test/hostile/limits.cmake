# traceloom_low: the command, with the files that know a large limit compiled once more, so that a test can lower it.
# See low_limits.h. All other files come from the libraries.
set(low_sources
    analysis/instruction/block_table.c analysis/instruction/branch_table.c analysis/instruction/cache_table.c
    analysis/instruction/page_table.c analysis/instruction/reuse_stack.c analysis/instruction/reuse_table.c
    analysis/instruction/syscall_table.c base/elf/elf_file.c analysis/function/stacks_answer.c format/chrome/chrome_samples.c
    format/ctf/metadata/tsdl_locate.c format/ctf/metadata/tsdl_names.c format/ctf/plan/ctf_compile.c format/ctf/plan/ctf_run.c format/ctf/plan/ctf_scope.c
    format/ctf/read/ctf_cursor.c format/ctf/read/ctf_fault.c format/ctf/read/ctf2010_content.c
    format/ctf/write/ctf_write_event.c format/folded/folded_write.c format/perfetto/perfetto_write.c
    format/pprof/pprof_write.c format/simpoint/simpoint_write.c format/speedscope/speedscope_profile.c
    format/tlp/live_read.c format/xray/xprof_write.c format/xtrace/xtrace_ahead.c format/xtrace/xtrace_core_read.c
    format/xtrace/xtrace_core_write.c format/xtrace/xtrace_image.c format/xtrace/xtrace_image_check.c
    format/xtrace/xtrace_check_stream.c format/xtrace/xtrace_set.c model/profile.c model/recording.c model/stack_nodes.c
    model/trace.c op/callstack.c op/insn_calls.c op/split.c op/symbols/discover.c op/symbols/dwarf_lines.c
    op/symbols/module_names.c op/symbols/object_symbols.c op/symbols/symbolize.c)
set(low_local BLOCKS_MAX EVENT_MOST DECOMPRESSED_MAX TRACKS_MOST BATCHES_MOST PAGES_MOST SECTIONS_MAX SECTION_BYTES_MAX NAMES_BYTES_MAX
    STEPS_MAX SEARCH_MAX CHOICES_MAX FUNCTIONS_MAX MODULES_MAX CHROME_TOLD_MAX ZEROS_MAX IMAGE_PAGES_MOST CALLS_MAX)
set(low_copies)
foreach(source IN LISTS low_sources)
  source_is_built(${source} built)
  if(NOT built)
    continue()
  endif()
  file(READ ${PROJECT_SOURCE_DIR}/src/${source} text)
  foreach(name IN LISTS low_local)
    string(REGEX REPLACE "#define ${name} +[^\n]*" "" text "${text}")
  endforeach()
  # Enumerators get another name: theirs becomes a macro.
  string(REGEX REPLACE "(LIVE_[A-Z]+_MAX) = " "\\1_HERE = " text "${text}")
  string(REPLACE "/" "_" name low_${source})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/low/${name} CONTENT "${text}")
  list(APPEND low_copies ${CMAKE_CURRENT_BINARY_DIR}/low/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${source})
endforeach()
add_executable(traceloom_low ${cli_main} ${CMAKE_CURRENT_SOURCE_DIR}/hostile/low_limits.c ${low_copies})
target_include_directories(traceloom_low PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/hostile)
target_compile_options(traceloom_low PRIVATE -include low_limits.h -Wno-unused-const-variable -Wno-unused-macros)
target_link_libraries(traceloom_low PRIVATE traceloom-cli libtraceloom)
# Each limit of limits.py is a test.
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/hostile/limits.py --list
                OUTPUT_VARIABLE low_names OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" low_names "${low_names}")
foreach(name IN LISTS low_names)
  traceloom_script(hostile.limit.${name} hostile/limits.py $<TARGET_FILE:traceloom_low> ${name})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/hostile/limits.py)
