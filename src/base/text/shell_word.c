/* Quotes words for a shell: all but plain ones stand in single quotes. */
#include "base/text/shell_word.h"

#include <string.h>

void tl_put_shell_word(tl_pb *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
    tl_pb_text(line, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        tl_pb_text(line, word);
        return;
    }
    tl_pb_text(line, "'");
    for (; *word; word++)
        if (*word == '\'')
            tl_pb_text(line, "'\\''");
        else
            tl_pb_raw(line, word, 1);
    tl_pb_text(line, "'");
}

void tl_put_shell_option(tl_pb *line, const char *option, const char *value)
{
    tl_put_shell_word(line, option);
    tl_put_shell_word(line, value);
}
