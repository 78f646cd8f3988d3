// A program to attach to that throws and catches exceptions all the time, in some threads.
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static volatile std::sig_atomic_t ended;

struct guard {
    int &count;
    explicit guard(int &c) : count(c) { ++count; }
    ~guard() { --count; }
};

__attribute__((noinline)) static int deep(int n, int &open)
{
    guard g(open);
    if (n == 0)
        throw std::runtime_error("at the bottom");
    return deep(n - 1, open) + 1;
}

static void work(bool &good)
{
    while (!ended) {
        int open = 0;
        std::string what;
        try {
            deep(20, open);
        } catch (const std::runtime_error &e) {
            what = e.what();
        }
        if (open != 0 || what != "at the bottom")
            good = false;
    }
}

int main()
{
    std::signal(SIGUSR1, [](int) { ended = 1; });
    std::puts("ready");
    std::fflush(stdout);
    bool good[4] = {true, true, true, true};
    std::vector<std::thread> threads;
    for (int i = 1; i < 4; i++)
        threads.emplace_back([&good, i] { work(good[i]); });
    work(good[0]);
    for (auto &t : threads)
        t.join();
    const bool all = good[0] && good[1] && good[2] && good[3];
    std::puts(all ? "good" : "bad");
    return all ? 0 : 1;
}
