/* Words of other tools, and what replaces them. */
#include "cli/nearest.h"

#include <string.h>

#include "base/compiler.h"

typedef struct other_word {
    const char *word, *ours;
} other_word;

static const char *ours_of(const char *word, const other_word *other, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, other[i].word) == 0)
            return other[i].ours;
    return NULL;
}

const char *tl_verb_of_others(const char *name)
{
    static const other_word other[] = {{"account", "report"},
                                       {"graph", "report --by callers"},
                                       {"stack", "report --by tree"},
                                       {"view", "cat"},
                                       {"dump", "cat"},
                                       {"script", "cat"},
                                       {"stat", "report"},
                                       {"stats", "report"},
                                       {"merge", "convert A B -o C"},
                                       {"flamegraph", "report -o app.svg"},
                                       {"record-attach", "ctl PID start"},
                                       {"formats", "help formats"},
                                       {"sql", "query"},
                                       {"version", "--version"}};
    return ours_of(name, other, TL_COUNT(other));
}

const char *tl_column_of_others(const char *name)
{
    static const other_word other[] = {
        {"timestamp", "ts"}, {"time", "ts"},       {"start", "ts"},    {"duration", "dur"},  {"end", "end_ts"},
        {"class", "name"},   {"event", "name"},    {"type", "name"},   {"function", "name"}, {"func", "name"},
        {"count", "calls"},  {"thread_id", "tid"}, {"args", "fields"}, {"payload", "fields"}};
    return ours_of(name, other, TL_COUNT(other));
}

const char *tl_table_of_others(const char *name)
{
    static const other_word other[] = {{"function", "did you mean func?"},
                                       {"functions", "did you mean func?"},
                                       {"calltree", "did you mean tree?"},
                                       {"graph", "did you mean callers?"},
                                       {"flamegraph", "-o app.svg draws a flame graph"}};
    return ours_of(name, other, TL_COUNT(other));
}
