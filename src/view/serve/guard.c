/* Refuses requests that a page of `serve` does not make. A page of another site whose name an attacker has made an
 * address of this machine (DNS rebinding) shows its own name as Host; browsers say which site asks as Sec-Fetch-Site.
 */
#include "view/serve/guard.h"

#include <stddef.h>
#include <string.h>

/* One of the names of this machine, with any port: ssh -L has another one. */
static bool is_here(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (strncmp(host, names[i], n) != 0)
            continue;
        const char *port = host + n;
        if (*port == '\0')
            return true;
        const size_t digits = *port == ':' ? strspn(port + 1, "0123456789") : 0;
        return digits >= 1 && digits <= 5 && port[1 + digits] == '\0';
    }
    return false;
}

int tl_serve_guard(const tl_serve_headers *h, const char **why)
{
    if (h->hosts != 1 || !h->host || !is_here(h->host)) {
        *why = "the Host of a request must be 127.0.0.1, localhost or [::1]";
        return 421;
    }
    if (strcmp(h->method, "GET") != 0) {
        *why = "only GET is answered";
        return 405;
    }
    if (h->has_body) {
        *why = "a request has no body";
        return 413;
    }
    return 0;
}

static bool is_word(const char *value, const char *word)
{
    return value && strcmp(value, word) == 0;
}

/* A link to the page may be anywhere, as in the file of --open: following it shows the page to its user, and to nobody
 * else. */
int tl_serve_guard_site(const tl_serve_headers *h, bool is_page, const char **why)
{
    const bool own = !h->site || is_word(h->site, "same-origin") || is_word(h->site, "none");
    const bool link = is_page && is_word(h->mode, "navigate") && is_word(h->dest, "document");
    if (h->sites <= 1 && (own || link))
        return 0;
    *why = "other sites get no answers";
    return 403;
}
