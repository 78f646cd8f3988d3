/* Marks spans, instants and counters by hand, for the recorder:
 *     cc spans.c -o spans $(pkg-config --cflags --libs traceloom-rt)
 *     traceloom record -o spans.ctf ./spans && traceloom cat spans.ctf */
#include <stdio.h>
#include <traceloom/rt.h>

static long load(const char *url)
{
    TL_RT_SPAN_F("load page", TL_RT_FIELD(text, "url", url));
    static int cached;
    if (cached++ == 0)
        TL_RT_INSTANT("cache miss");
    long bytes = 0;
    for (const char *at = url; *at; at++)
        bytes += *at;
    TL_RT_COUNTER("bytes", bytes);
    return bytes;
}

int main(void)
{
    TL_RT_SPAN("session");
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += load("https://example.org/");
    printf("%ld\n", sum);
    return 0;
}
