/* A library without hooks. */
int first_work(int x);
__attribute__((noinline)) int first_work(int x)
{
    return x + 1;
}
