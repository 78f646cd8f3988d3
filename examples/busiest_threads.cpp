// The threads of a trace with the most events, from C++: the library's objects as std::unique_ptr.
//     c++ busiest_threads.cpp $(pkg-config --cflags --libs traceloom) && ./a.out TRACE
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <traceloom/traceloom.h>
#include <vector>

struct Closer {
    void operator()(tl_source *s) const
    {
        tl_source_close(s);
    }
};
using Source = std::unique_ptr<tl_source, Closer>;

static Source open(const char *path)
{
    tl_source *source = nullptr;
    tl_error error;
    if (tl_source_open(&source, path, nullptr, &error) < 0)
        throw std::runtime_error(error.message);
    return Source(source);
}

int main(int argc, char **argv)
try {
    Source source = open(argc > 1 ? argv[1] : "-");
    const tl_trace *trace = tl_source_trace(source.get());
    tl_count count;
    tl_error error;
    if (tl_source_count(source.get(), 1, &count, &error) < 0)
        throw std::runtime_error(error.message);
    std::vector<std::uint32_t> track(tl_trace_tracks(trace));
    for (std::uint32_t i = 0; i < track.size(); i++)
        track[i] = i;
    std::stable_sort(track.begin(), track.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return count.by_track[a] > count.by_track[b]; });
    for (std::size_t i = 0; i < track.size() && i < 3; i++)
        std::printf("%10llu  %s\n", static_cast<unsigned long long>(count.by_track[track[i]]),
                    tl_trace_track(trace, track[i])->name);
    tl_count_free(&count);
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "busiest_threads: %s\n", e.what());
    return 1;
}
