# The planner of src/patch: what it finds in programs of this machine, beside what binutils say.
foreach(tool frame_rows patch_shares)
  add_executable(${tool} ${CMAKE_CURRENT_SOURCE_DIR}/patch/${tool}.c)
  set_target_properties(${tool} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${tool} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${tool} PRIVATE traceloom-cli)
endforeach()
traceloom_script(differential.patch.frames patch/frames_compare.py "${TL_EMULATOR} $<TARGET_FILE:frame_rows>")
traceloom_script(differential.patch.plan patch/plan_compare.py "${TL_EMULATOR} $<TARGET_FILE:patch_shares>")
