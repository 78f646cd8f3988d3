/* Gates as JUnit's XML, which servers of continuous integration show. */
#ifndef TL_VIEW_JUNIT_VIEW_H
#define TL_VIEW_JUNIT_VIEW_H

#include "view/view.h"

/* Not one of tl_views(): only answers with gates have what it shows. */
extern const tl_view tl_view_junit;

#endif
