/* The plugin of count_dlopen: one function that calls another three times, and then back into the program. */
#if defined(__clang__)
#define TRACED __attribute__((noinline, xray_always_instrument, visibility("default")))
#else
#define TRACED __attribute__((noipa, visibility("default")))
#endif

static volatile unsigned long sum;

TRACED void plugin_leaf(unsigned n);
void plugin_leaf(unsigned n)
{
    sum += n;
}

TRACED void plugin_work(unsigned n, void (*callback)(unsigned));
void plugin_work(unsigned n, void (*callback)(unsigned))
{
    for (unsigned i = 0; i < 3; i++)
        plugin_leaf(n);
    callback(n);
    __asm__ volatile("" ::: "memory");
}
