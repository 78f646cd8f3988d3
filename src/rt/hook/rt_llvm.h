/* LLVM's own XRay runtime, in programs that are linked with it: the recorder as modes of it. */
#ifndef TL_RT_LLVM_H
#define TL_RT_LLVM_H

#include <stdbool.h>

/* Is compiler-rt's XRay in this program? Then only it may patch the program's sleds. */
bool tl_rt_llvm_present(void);
/* Registers the modes, and begins to record if XRAY_OPTIONS names one of them. Before tl_rt_begin(). Not from hooks. */
void tl_rt_llvm_begin(void);

#endif
