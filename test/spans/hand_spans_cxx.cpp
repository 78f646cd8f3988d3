// Spans by hand in C++: exceptions pass through them, in templates, lambdas, members and inlined functions. Prints what
// it did, as count.h says.
#include <traceloom/rt.h>

#define FUNCTIONS(X) X(main) X(leaf)
#include "count.h"

#include <string>
#include <thread>
#include <vector>

#define SPANS(X) X(outer) X(thrown) X(caught) X(method) X(lambda) X(generic) X(thread) X(unwinding)
SPANS(COUNT_COUNTER)

/* Kinds of counters are those that the same number has in C. */
extern const volatile bool ready;
extern const volatile unsigned short port;
static_assert(TL_RT_NUMBER_TYPE_(ready) == TL_RT_I64 && TL_RT_NUMBER_TYPE_(port) == TL_RT_I64, "as small integers");
static_assert(TL_RT_NUMBER_TYPE_(sizeof(int)) == TL_RT_U64 && TL_RT_NUMBER_TYPE_(0.5f) == TL_RT_F64, "as it is");

TRACED static int leaf(int n)
{
    CALLED(leaf);
    NO_TAIL();
    return n + 1;
}

namespace
{
struct resource {
    ~resource()
    {
        TL_RT_SPAN("unwinding");
        CALLED(unwinding);
        leaf(1);
    }
    inline int use(const std::string &name) const
    {
        TL_RT_SPAN_F("method", TL_RT_FIELD(text, "name", name.c_str()), TL_RT_FIELD(u64, "length", name.size()));
        CALLED(method);
        return leaf(static_cast<int>(name.size()));
    }
};

template <typename T> T generic(T v)
{
    TL_RT_SPAN("generic");
    CALLED(generic);
    TL_RT_COUNTER("value", v);
    return static_cast<T>(v + static_cast<T>(leaf(1)));
}

void thrower(int depth)
{
    TL_RT_SPAN_F("thrown", TL_RT_FIELD(i64, "depth", depth));
    CALLED(thrown);
    const resource r;
    leaf(depth);
    if (depth == 0)
        throw std::string("enough");
    thrower(depth - 1);
    NO_TAIL();
}

int catcher(int depth)
{
    TL_RT_SPAN("caught");
    CALLED(caught);
    try {
        thrower(depth);
    } catch (const std::string &s) {
        TL_RT_INSTANT_F("exception", TL_RT_FIELD(text, "what", s.c_str()));
        return resource().use(s);
    }
    return 0;
}
} // namespace

int main()
{
    CALLED(main);
    int sum = 0;
    {
        TL_RT_SPAN("outer");
        CALLED(outer);
        for (int i = 0; i < 50; i++) {
            sum += catcher(i % 5);
            sum += generic(i) + static_cast<int>(generic(0.5 * i)) + generic(static_cast<unsigned char>(i));
        }
        const auto inside = [&sum](int n) {
            TL_RT_SPAN("lambda");
            CALLED(lambda);
            sum += leaf(n);
        };
        for (int i = 0; i < 10; i++)
            inside(i);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            for (int k = 0; k < 200; k++) {
                TL_RT_SPAN("thread");
                CALLED(thread);
                catcher(k % 3);
            }
        });
    for (std::thread &t : threads)
        t.join();
    print_calls();
    SPANS(COUNT_LINE)
    printf("instant exception %lu\ncounter value %lu\n", CALLS(caught), CALLS(generic));
    return sum == 0;
}
