/* Why code is not patched, in words. */
#include "patch/patch_plan.h"

const char *patch_why_text(patch_why why)
{
    static const char *const text[PATCH_WHYS] = {
        [PATCH_OK] = "patched",
        [PATCH_IS_PART] = "a fragment of another function",
        [PATCH_IS_LINKAGE] = "a jump to another object",
        [PATCH_IS_RETURN] = "the return from a signal handler",
        [PATCH_IS_START] = "the start of a thread or process",
        [PATCH_NO_CODE] = "its range overlaps another one, or is not executable",
        [PATCH_UNKNOWN_CODE] = "its code is not understood",
        [PATCH_OPEN_END] = "its last instruction goes on into what follows",
        [PATCH_SHARED_PART] = "it shares a fragment with another function",
        [PATCH_ENTERED] = "it is entered in its middle, or enters another function's",
        [PATCH_BY_NAME] = "its name is on the list of functions that are never patched",
        [PATCH_NO_ROOM] = "there is no room for a jump",
        [PATCH_BEYOND] = "the object has more functions, or more places, than are planned",
        [PATCH_CHANGED] = "its code in memory was changed",
        [PATCH_NOT_WANTED] = "not selected",
    };
    return (unsigned)why < PATCH_WHYS ? text[why] : "unknown";
}
