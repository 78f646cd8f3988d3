/* Names of argument values of Linux on AArch64. */
#ifndef TL_ANALYSIS_LINUX_NAMES_H
#define TL_ANALYSIS_LINUX_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define TL_LINUX_NAME_SIZE 512u

/* Text of an argument's value, by its kind (tl_call_argument), such as "O_RDWR|O_CREAT"; unnamed bits are a number at
 * the end. False if values of this kind, or this one, have no names. */
bool tl_linux_value_name(char text[static TL_LINUX_NAME_SIZE], char kind, uint64_t value, const char *call);

#endif
