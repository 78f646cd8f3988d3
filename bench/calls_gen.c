/* Makes a basic log of XRay, of one of many runs of the same busy program; profiles are made of such logs.
 *
 *     calls_gen CALLS SEED > run.xray
 *
 * 300 functions call each other from four call sites each, up to 24 deep, most often from the first one. So runs have
 * most stacks in common, and each has some of its own. The same numbers give the same bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 300, SITES = 4, DEPTH_MOST = 24, RECORD = 32, VERSION = 3, ENTER = 0, EXIT = 1 };

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state * 0x2545f4914f6cdd1du) >> 32) % n;
}

static void put(uint8_t kind, uint32_t function, uint64_t time)
{
    uint8_t record[RECORD] = {0};
    const uint32_t one = 1, id = function + 1;
    record[3] = kind;
    memcpy(record + 4, &id, sizeof(id));
    memcpy(record + 8, &time, sizeof(time));
    memcpy(record + 16, &one, sizeof(one));
    memcpy(record + 20, &one, sizeof(one));
    fwrite(record, sizeof(record), 1, stdout);
}

/* Of 100 calls 60 come from the first site, 25 from the second, 12 from the third, 3 from the last. */
static uint32_t callee(uint32_t function)
{
    const uint32_t choice = random_below(100), site = choice < 60 ? 0 : choice < 85 ? 1 : choice < 97 ? 2 : 3;
    return (function * SITES + site) * 2654435761u % 4294967291u % FUNCTIONS;
}

int main(int argc, char **argv)
{
    const uint8_t header[RECORD] = {[0] = VERSION, [8] = 0x00, 0xca, 0x9a, 0x3b}; /* 10^9 ticks a second */
    uint32_t stack[DEPTH_MOST], depth = 0;
    if (argc != 3)
        return 2;
    state = 0x9e3779b97f4a7c15u * (strtoull(argv[2], NULL, 10) + 1);
    uint64_t calls = strtoull(argv[1], NULL, 10), time = 1000000;
    fwrite(header, sizeof(header), 1, stdout);
    while (calls > 0 || depth > 0) {
        time += 20 + random_below(1u << (4 + random_below(10)));
        const int down = calls > 0 && (depth == 0 || (depth < DEPTH_MOST && random_below(2) == 0));
        if (down) {
            stack[depth] = depth == 0 ? 0 : callee(stack[depth - 1]);
            put(ENTER, stack[depth++], time);
            calls--;
        } else {
            put(EXIT, stack[--depth], time);
        }
    }
    return fflush(stdout) != 0;
}
