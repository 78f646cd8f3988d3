/* The calls that the shim counts and fails; shared by its parts. */
#ifndef TEST_FAULT_SHIM_H
#define TEST_FAULT_SHIM_H

enum fault_call {
    FAULT_MALLOC,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_CLOSE,
    FAULT_OPEN,
    FAULT_NAME,
    FAULT_MKDIR,
    FAULT_THREAD,
    FAULT_CALLS
};

/* Counts a call. 1: it must fail, and errno is set. */
int tl_fault_due(enum fault_call call);
/* Begins to count, and to fail as TL_FAULT demands. */
void tl_fault_begin(const char *fault);

#endif
