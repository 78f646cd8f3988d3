/* app.c: the program that the documents record. Its functions differ so much in time that their order is never chance.
 */
#include <stdio.h>

static volatile unsigned sink;
static void spin(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink = sink * 31 + i;
}

__attribute__((noinline)) void find_user(int user)
{
    spin(400 + (unsigned)user % 7 * 40);
}
__attribute__((noinline)) void hash_password(int user)
{
    spin(40000 + (unsigned)user % 5 * 4000);
}
__attribute__((noinline)) void render_page(int depth)
{
    spin(1000);
    if (depth)
        render_page(depth - 1);
}
__attribute__((noinline)) void serve(int user)
{
    find_user(user);
    if (user % 4 == 0)
        hash_password(user);
    render_page(user % 3);
}

int main(void)
{
    for (int user = 0; user < 2000; user++)
        serve(user);
    return printf("%u requests\n", 2000u) < 0;
}
