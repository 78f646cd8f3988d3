/* Events as sections of a page: the first ones, and how many of each class there are over time. */
#ifndef TL_VIEW_PAGE_EVENTS_H
#define TL_VIEW_PAGE_EVENTS_H

#include "model/relation_impl.h"
#include "op/source_impl.h"
#include "view/page/page.h"

#define TL_HTML_EVENTS_MAX      2000u /* the first events */
#define TL_HTML_EVENT_SIZE_MAX  4096u /* bytes of one's fields as JSON; others are shown without */
#define TL_HTML_DENSITY_MAX     256u  /* classes with the most events */
#define TL_HTML_DENSITY_COLUMNS 512u

enum { TL_HTML_EVENT_SECTIONS = 2 };

/* Is it neither a call, a sample nor an instruction or what it did? These have tabs of their own. */
bool tl_html_is_other(const tl_class *c);

/* Makes `events` and `density`, of a trace that can have a profile only of others. `classes`: rows whose first columns
 * are name and kind, in the order of `density`. bytes: of each section, about. The JSON belongs to the caller, also
 * after an error. Errors: TL_ENOMEM, those of reading. */
int tl_html_events(tl_source *s, const tl_select *select, const tl_part *classes, uint64_t bytes,
                   tl_html_section out[static TL_HTML_EVENT_SECTIONS], tl_error *e);

#endif
