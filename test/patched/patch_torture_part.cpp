// A library that patch_torture.cpp opens and closes: exceptions pass through it.
#if defined(__clang__)
#define PART __attribute__((noinline, visibility("default")))
#else
#define PART __attribute__((noipa, visibility("default")))
#endif

static volatile int sink;

extern "C" {
PART int part_inner(void (*back)(int), int n);
PART int part_calls(void (*back)(int), int n);

PART int part_inner(void (*back)(int), int n)
{
    back(n);
    sink = sink + 1;
    return n;
}

PART int part_calls(void (*back)(int), int n)
{
    try {
        return part_inner(back, n) + 1;
    } catch (int m) {
        if (m == 3)
            throw;
        return m + 2;
    }
}
}
