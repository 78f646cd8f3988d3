/* The stubs of patch_stub_*.S: what blocks call and jump to. Not to be called from C. */
#ifndef TL_RT_PATCH_STUB_H
#define TL_RT_PATCH_STUB_H

#pragma GCC visibility push(hidden)
void tl_rt_patch_enter_0(void);
void tl_rt_patch_enter_1(void);
void tl_rt_patch_enter_2(void);
void tl_rt_patch_enter_3(void);
void tl_rt_patch_enter_4(void);
void tl_rt_patch_enter_5(void);
void tl_rt_patch_enter_6(void);
void tl_rt_patch_exit(void);
void tl_rt_patch_tail(void);
void tl_rt_patch_leave(void);
#pragma GCC visibility pop

#endif
