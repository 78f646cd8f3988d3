/* Functions that are known by name, since their code does not show what is special about them. */
#include "patch/patch_plan.h"

/* The latter come back through an address that is kept elsewhere, so that they end by a jump. */
const char *const patch_never[] = {"vfork",       "__vfork", "__libc_vfork", "__tls_get_addr", "__restore_rt",
                                   "swapcontext", NULL};
const char *const patch_twice[] = {"setjmp",        "_setjmp",     "__sigsetjmp", "sigsetjmp", "getcontext",
                                   "setcontext",    "__setjmp",    "longjmp",     "_longjmp",  "siglongjmp",
                                   "__longjmp_chk", "makecontext", NULL};
