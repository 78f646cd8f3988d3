/* What this build of the library can read and write:
 *     cc list_formats.c $(pkg-config --cflags --libs traceloom) && ./a.out */
#include <stdio.h>
#include <traceloom/format.h>

int main(void)
{
    printf("traceloom %s, with %s\n", tl_version(), tl_build_options());
    for (uint32_t i = 0; i < tl_formats(); i++) {
        const tl_format_info *format = tl_format_get(i);
        printf("%-16s %c%c%c%c  %s\n", format->name, format->can & TL_CAN_READ_EVENTS ? 'r' : '-',
               format->can & TL_CAN_WRITE_EVENTS ? 'w' : '-', format->can & TL_CAN_READ_PROFILE ? 'R' : '-',
               format->can & TL_CAN_WRITE_PROFILE ? 'W' : '-', format->summary);
    }
    return 0;
}
