/* What `report` makes, by the options. */
#include "cli/report/report_plan.h"

#include "cli/message.h"
#include "cli/report/report_page.h"

int tl_report_make_plan(const tl_cli *c, tl_report_plan *p)
{
    const tl_arguments *a = c->args;
    const tl_view *view;
    if (tl_report_wants_page(a)) {
        *p = (tl_report_plan){.kind = tl_table_find(a->by ? a->by : "func", NULL),
                              .page = true,
                              .table = a->json && !tl_to_stdout(a),
                              .to = tl_target_of(c, &tl_view_json, "-")};
        return TL_EXIT_DONE;
    }
    int status = tl_asked_view(c, &view);
    if (status != TL_EXIT_DONE)
        return status;
    *p = (tl_report_plan){.kind = tl_table_find(a->by ? a->by : "func", NULL),
                          .table = true,
                          .to = tl_target_of(c, view ? view : &tl_view_table, a->output ? a->output : "-")};
    if (view && a->to)
        return TL_EXIT_DONE;
    status = tl_output_format(c, TL_CAN_WRITE_PROFILE, &p->format);
    if (status != TL_EXIT_DONE)
        return status;
    if (p->format && !p->format->profile_writer && view)
        p->format = NULL;
    if (p->format && !p->format->profile_writer) {
        tl_say_error(NULL, "format %s holds no profiles; see traceloom help formats, or traceloom convert for events",
                     p->format->name);
        return TL_EXIT_USAGE;
    }
    if (p->format) {
        p->table = !tl_to_stdout(a) && (a->by || a->json);
        p->to = tl_target_of(c, a->json ? &tl_view_json : &tl_view_table, "-");
        return TL_EXIT_DONE;
    }
    if (!tl_to_stdout(a) && !view) {
        tl_say_error(a->output, "the suffix names no format; choose one with --to (traceloom help formats lists them)");
        return TL_EXIT_USAGE;
    }
    return TL_EXIT_DONE;
}
