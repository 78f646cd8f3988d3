/* A program with sleds that is linked with a library that has some, count_plugin.c, and with one that has none. */
#define TRACED __attribute__((noinline, xray_always_instrument))

enum { TIMES = 5 };

void plugin_work(unsigned n, void (*callback)(unsigned));
int first_work(int x);

static volatile unsigned long sum;

TRACED static void callback(unsigned n)
{
    sum += n;
}

TRACED int main(void)
{
    for (unsigned i = 0; i < TIMES; i++) {
        plugin_work(i, callback);
        sum += (unsigned long)first_work((int)i);
    }
    return 0;
}
