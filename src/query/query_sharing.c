/* Who uses a session. */
#include "query/query_sharing.h"

#include "query/query_impl.h"

void tl_query_hold(tl_query *q)
{
    atomic_fetch_add(&q->users, 1);
}

void tl_query_drop(tl_query *q)
{
    if (atomic_fetch_sub(&q->users, 1) == 1)
        tl_query_free(q);
}

int tl_query_enter(tl_query *q, tl_error *e)
{
    if (pthread_mutex_trylock(&q->lock) == 0)
        return 0;
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "another thread uses the session");
}

void tl_query_wait(tl_query *q)
{
    (void)pthread_mutex_lock(&q->lock);
}

void tl_query_leave(tl_query *q)
{
    (void)pthread_mutex_unlock(&q->lock);
}

void tl_query_close(tl_query *q)
{
    if (q)
        tl_query_drop(q);
}
