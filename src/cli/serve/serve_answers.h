/* Answers of `serve`: the page, and questions, which are answered by the verbs `report` and `query`. */
#ifndef TL_CLI_SERVE_ANSWERS_H
#define TL_CLI_SERVE_ANSWERS_H

#include "cli/verbs.h"
#include "view/serve/server.h"

#define TL_SERVE_ANSWER_MAX UINT64_C(67108864) /* bytes of an answer */
#define TL_SERVE_TIME_USUAL UINT64_C(30000000000)

typedef struct tl_serve_answers tl_serve_answers;

/* Reads the inputs and makes the page, with messages. Returns a tl_exit; the answers belong to the caller in case of
 * TL_EXIT_DONE, and *losses is what the inputs have lost. */
int tl_serve_answers_open(tl_serve_answers **out, const tl_cli *c, int *losses);
void tl_serve_answers_close(tl_serve_answers *a);

/* Members of tl_server_options; `answers` is the tl_serve_answers. */
void tl_serve_answers_ask(void *answers, tl_serve_queue *queue, const tl_serve_request *r, tl_serve_answer *a);
bool tl_serve_answers_page(void *answers, char **body, size_t *n);
void tl_serve_answers_news(void *answers, char text[static TL_SERVE_NEWS_MAX]);
/* Was the page sent to anybody? */
bool tl_serve_answers_shown(const tl_serve_answers *a);

#endif
