/* The calls that the shim counts and lets fail; shared by its parts. */
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

/* Counts a call. 1: it has to fail, and errno says how. */
int tl_fault_due(enum fault_call call);
/* Begins to count, and to fail as TL_FAULT says. */
void tl_fault_begin(const char *fault);

#endif
