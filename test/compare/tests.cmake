# Comparing runs: the mathematics beside a slow one.
add_executable(change_lines ${CMAKE_CURRENT_SOURCE_DIR}/compare/change_lines.c)
set_target_properties(change_lines PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(change_lines PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(change_lines PRIVATE libtraceloom)
traceloom_script(differential.compare compare/oracle.py "${TL_EMULATOR} $<TARGET_FILE:change_lines>")
