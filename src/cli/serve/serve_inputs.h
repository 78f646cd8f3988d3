/* The inputs of `serve`: what they are called now, and whether they have changed. */
#ifndef TL_CLI_SERVE_INPUTS_H
#define TL_CLI_SERVE_INPUTS_H

#include "cli/options.h"

typedef struct tl_serve_input tl_serve_input;

typedef struct tl_serve_inputs {
    tl_words *words; /* their names, which are replaced: a live recording loses its suffix when it ends */
    tl_serve_input *input;
} tl_serve_inputs;

typedef struct tl_serve_news {
    uint64_t bytes;
    bool is_changed; /* since the last look */
    bool is_live;    /* some program is still writing: a live recording is there, or a file has grown lately */
} tl_serve_news;

/* Takes over the words as they are now: copies, in a list of their own. False: no memory. */
bool tl_serve_inputs_init(tl_serve_inputs *in, tl_words *words);
void tl_serve_inputs_fini(tl_serve_inputs *in);
/* Finds renamed inputs, and remembers what the files are like; before they are read. */
void tl_serve_inputs_look(tl_serve_inputs *in);
/* Of now. What has grown since the last news counts. */
tl_serve_news tl_serve_inputs_news(tl_serve_inputs *in);

#endif
