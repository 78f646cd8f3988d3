/* Writes the union of both trees as JSON, a member for each column. */
#include "view/page/page_union.h"

#include "analysis/compare/union_tree.h"
#include "base/text/float_text.h"
#include "base/text/json_write.h"
#include "view/page/page_text.h"

enum { PLACE_BYTES = 100 }; /* of a place, about */

/* The members of a place's side, each as one array. */
static const struct {
    const char *key;
    size_t offset;
} numbers[] = {{"calls", offsetof(tl_union_side, calls)},
               {"total", offsetof(tl_union_side, total)},
               {"self", offsetof(tl_union_side, self)}};

static void put_real(tl_json *j, double v)
{
    char text[TL_FLOAT_TEXT_MAX + 1];
    *tl_put_six(text, v) = 0; /* what a picture needs */
    tl_json_raw(j, text);
}

static void put_side(tl_json *j, const char *key, const tl_union_tree *u, int side)
{
    tl_json_key(j, key);
    tl_json_object(j);
    for (size_t k = 0; k < TL_COUNT(numbers); k++) {
        tl_json_key(j, numbers[k].key);
        tl_json_array(j);
        for (uint32_t i = 0; i < u->n; i++)
            put_real(j, *(const double *)((const char *)&u->place[i].side[side] + numbers[k].offset));
        tl_json_array_end(j);
    }
    tl_json_object_end(j);
}

static void put_union(tl_json *j, const tl_compare_show *show, const tl_union_tree *u)
{
    tl_json_key(j, "sides");
    tl_json_array(j);
    tl_json_string(j, show->side[0]);
    tl_json_string(j, show->side[1]);
    tl_json_array_end(j);
    tl_json_key(j, "noise");
    put_real(j, tl_compare_noise(show->compare));
    tl_json_key_u64(j, "places", u->n);
    tl_json_key_u64(j, "left_out", u->left_out);
    tl_json_key(j, "parent");
    tl_json_array(j);
    for (uint32_t i = 0; i < u->n; i++)
        tl_json_u64(j, u->place[i].parent);
    tl_json_array_end(j);
    tl_json_key(j, "name");
    tl_json_array(j);
    for (uint32_t i = 0; i < u->n; i++)
        tl_json_string(j, u->place[i].name);
    tl_json_array_end(j);
    tl_json_key(j, "width");
    tl_json_array(j);
    for (uint32_t i = 0; i < u->n; i++)
        put_real(j, u->place[i].width);
    tl_json_array_end(j);
    put_side(j, "base", u, 0);
    put_side(j, "new", u, 1);
    tl_json_object_end(j);
}

int tl_html_union(const tl_compare_show *show, uint64_t limit, char **json, size_t *n, tl_error *e)
{
    tl_union_tree u;
    tl_output *out = NULL;
    tl_json j;
    const uint64_t most = limit / (10 * PLACE_BYTES);
    int status = tl_union_tree_of(&u, show->compare, most < TL_HTML_UNION_MAX ? (uint32_t)most : TL_HTML_UNION_MAX, e);
    if (status == 0)
        status = tl_html_json_begin(&out, &j, e);
    if (status == 0) {
        put_union(&j, show, &u);
        status = tl_html_take(out, json, n, e);
    }
    tl_union_tree_fini(&u);
    return status;
}
