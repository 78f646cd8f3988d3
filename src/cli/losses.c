/* Messages about lost events, damaged places and what an output could not hold. */
#include "cli/losses.h"

#include <string.h>

#include "base/text/number.h"
#include "cli/message.h"
#include "op/loss_lines.h"
#include "op/loss_text.h"

#define PATH_SIZE 1024u

static const char *path_of(char path[static PATH_SIZE], const tl_trace *t, const char *file)
{
    return file ? tl_damage_path(path, PATH_SIZE, t, &(tl_damage){.file = file}) : tl_trace_path(t);
}

static void say(void *arg, const tl_trace *t, const char *file, const char *text)
{
    char path[PATH_SIZE];
    tl_say(arg, path_of(path, t, file), "%s", text);
}

static void say_as_error(void *arg, const tl_trace *t, const char *file, const char *text)
{
    char path[PATH_SIZE];
    (void)arg;
    tl_say_error(path_of(path, t, file), "%s", text);
}

static tl_loss_lines lines_of(const tl_cli *c)
{
    return (tl_loss_lines){.say = say, .arg = (void *)(uintptr_t)c};
}

void tl_say_notes(const tl_cli *c, const tl_trace *t)
{
    const tl_loss_lines lines = lines_of(c);
    tl_notes_lines(&lines, t);
}

int tl_say_out_of_order(const tl_cli *c, const tl_trace *t)
{
    tl_loss_lines lines = lines_of(c);
    if (c->args->strict)
        lines.say = say_as_error;
    tl_out_of_order_lines(&lines, t);
    return c->args->strict && tl_trace_out_of_order(t) ? TL_EXIT_DAMAGED : TL_EXIT_DONE;
}

int tl_say_losses(const tl_cli *c, const tl_trace *t, uint64_t events)
{
    const tl_loss_lines lines = lines_of(c);
    int status = TL_EXIT_DONE;
    tl_lost_events_lines(&lines, t, events);
    if (c->args->strict && (tl_trace_lost_events(t) || tl_trace_lost_packets(t)))
        status = TL_EXIT_LOST;
    if (tl_lost_places_lines(&lines, t))
        status = tl_exit_worse(status, TL_EXIT_DAMAGED);
    if (c->args->verb->id == TL_VERB_INFO)
        tl_harmless_lines(&lines, t);
    status = tl_exit_worse(status, tl_say_out_of_order(c, t));
    tl_say_notes(c, t);
    tl_contents_lines(&lines, t);
    return status;
}

void tl_say_drop(void *arg, const tl_drop *drop)
{
    char number[32];
    if (strncmp(drop->what, "the ", 4) == 0) /* no number, since there is only one */
        tl_say(arg, NULL, "not written: %s", drop->what);
    else
        tl_say(arg, NULL, "not written: %s %s", tl_human_grouped(number, sizeof number, drop->n), drop->what);
}
