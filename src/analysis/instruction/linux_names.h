/* Names that Linux on AArch64 has for values of arguments. */
#ifndef TL_ANALYSIS_LINUX_NAMES_H
#define TL_ANALYSIS_LINUX_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define TL_LINUX_NAME_SIZE 512u

/* Text of a value of an argument of a kind (tl_call_argument) of a call, as "O_RDWR|O_CREAT"; bits that have no name
 * are a number behind the others. False if values of this kind, or this one, have no names. */
bool tl_linux_value_name(char text[static TL_LINUX_NAME_SIZE], char kind, uint64_t value, const char *call);

#endif
