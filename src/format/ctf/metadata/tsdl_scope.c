/* Scopes of TSDL: the type or field that a name means. All symbols are on one stack, and each name knows its innermost
 * one, so a lookup takes one step, however many there are. */
#include <assert.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

int tsdl_enter(tsdl_parser *p, tsdl_mark *mark)
{
    if (p->nesting >= TSDL_NESTING_MAX)
        return tsdl_fail(&p->l, p->l.token.position, "braces in braces, more than %u levels", CTF_DEPTH_MAX);
    TSDL_TRY(tsdl_count(&p->l, 1));
    *mark = (tsdl_mark){.symbols = p->nsymbol, .scope = p->scope};
    p->nesting++;
    p->scope = ++p->scopes;
    return 0;
}

void tsdl_pop(tsdl_parser *p, uint32_t symbols)
{
    while (p->nsymbol > symbols) {
        const tsdl_symbol *s = &p->symbol[--p->nsymbol];
        s->name->top[s->space] = s->below;
    }
}

void tsdl_leave(tsdl_parser *p, const tsdl_mark *mark)
{
    assert(p->nesting > 0);
    tsdl_pop(p, mark->symbols);
    p->scope = mark->scope;
    p->nesting--;
}

const tsdl_symbol *tsdl_find(const tsdl_parser *p, tsdl_space space, const tsdl_name *name)
{
    uint32_t top = name->top[space];
    return top == 0 ? NULL : &p->symbol[top - 1];
}

int tsdl_push(tsdl_parser *p, tsdl_space space, tsdl_name *name, tsdl_type *type, uint32_t scope, uint32_t index)
{
    if (!TL_GROW(p->symbol, p->nsymbol, 1, p->symbol_capacity))
        return tsdl_no_memory(&p->l);
    p->symbol[p->nsymbol++] = (tsdl_symbol){
        .name = name, .type = type, .scope = scope, .below = name->top[space], .index = index, .space = (uint8_t)space};
    name->top[space] = p->nsymbol;
    return 0;
}

int tsdl_declare(tsdl_parser *p, tsdl_space space, tsdl_name *name, tsdl_type *type, uint64_t position)
{
    const tsdl_symbol *known = tsdl_find(p, space, name);
    if (known && known->scope == p->scope)
        return tsdl_fail(&p->l, position, "'%.60s' is declared twice", name->text);
    return tsdl_push(p, space, name, type, p->scope, 0);
}

int tsdl_push_field(tsdl_parser *p, tsdl_name *name, tsdl_type *type, uint32_t scope, uint32_t index)
{
    tsdl_name *stripped;
    TSDL_TRY(tsdl_strip(&p->l, name, &stripped));
    TSDL_TRY(tsdl_push(p, TSDL_FIELD, name, type, scope, index));
    return stripped == name ? 0 : tsdl_push(p, TSDL_SHOWN, stripped, type, scope, index);
}

int tsdl_find_field(tsdl_parser *p, tsdl_name *name, const tsdl_symbol **out)
{
    tsdl_name *stripped;
    TSDL_TRY(tsdl_strip(&p->l, name, &stripped));
    /* In the innermost struct with the field in either spelling: the exact one first. Scopes count upwards. */
    const tsdl_symbol *other[] = {stripped == name ? NULL : tsdl_find(p, TSDL_FIELD, stripped),
                                  tsdl_find(p, TSDL_SHOWN, name)};
    *out = tsdl_find(p, TSDL_FIELD, name);
    for (int i = 0; i < 2; i++)
        if (other[i] && (!*out || other[i]->scope > (*out)->scope))
            *out = other[i];
    return 0;
}
