/* The machine's limit for instruction streams: a program written by hand for one question, without a model or any
 * checks, on a mapped file.
 *
 *     limit_xtrace walk|mix|block FILE
 *
 * walk: every token, with pcs; prints instructions, accesses, and sums that depend on every one of them.
 * mix: counts instructions by the top-level group of their encoding (bits 25 to 28), and bytes loaded and stored.
 * block: counts executions of basic blocks in a table by the address they begin at. */
#include "limit_file.h"

#include <inttypes.h>

typedef struct stream {
    const uint8_t *p, *end;
} stream;

/* The size of the token at p if it is neither an instruction nor an access, else 0. */
static size_t other(const uint8_t *p)
{
    switch (*p) {
    case 0x03:
    case 0x0b:
    case 0x13:
    case 0x1b:
    case 0x23:
    case 0x2b:
    case 0x1c:
    case 0x07:
        return 9;
    case 0x0c:
        return 257;
    case 0x24:
        return 9 + 16 * (size_t)load64(p + 1);
    default:
        return 0;
    }
}

static void walk(stream s)
{
    uint64_t pc = 0, insns = 0, pcs = 0, opcodes = 0, accesses = 0, addresses = 0;
    for (const uint8_t *p = s.p; p < s.end;) {
        switch (*p) {
        case 0x01:
        case 0x41:
        case 0x81:
        case 0xc1:
            pc += 4;
            opcodes += load32(p + 1);
            p += 5;
            break;
        case 0x09:
        case 0x49:
        case 0x89:
        case 0xc9:
            pc = load64(p + 1);
            opcodes += load32(p + 9);
            p += 13;
            break;
        default:
            if ((*p & 7) == 2) {
                accesses++;
                addresses += load64(p + 1);
                p += 9 + ((size_t)1 << (*p >> 4));
            } else {
                const size_t n = other(p);
                if (n == 0)
                    exit(1);
                p += n;
            }
            continue;
        }
        insns++;
        pcs += pc;
    }
    printf("%" PRIu64 " instructions %" PRIu64 " accesses %" PRIx64 "\n", insns, accesses, pcs ^ opcodes ^ addresses);
}

static void mix(stream s)
{
    uint64_t group[16] = {0}, bytes[2] = {0}, insns = 0;
    for (const uint8_t *p = s.p; p < s.end;) {
        if ((*p & 0x3f) == 1) {
            group[load32(p + 1) >> 25 & 15]++;
            p += 5;
        } else if ((*p & 0x3f) == 9) {
            group[load32(p + 9) >> 25 & 15]++;
            p += 13;
        } else if ((*p & 7) == 2) {
            bytes[*p >> 3 & 1] += (uint64_t)1 << (*p >> 4);
            p += 9 + ((size_t)1 << (*p >> 4));
        } else {
            const size_t n = other(p);
            if (n == 0)
                exit(1);
            p += n;
        }
    }
    for (unsigned i = 0; i < 16; i++)
        insns += group[i];
    printf("%" PRIu64 " instructions %" PRIu64 " bytes loaded %" PRIu64 " stored\n", insns, bytes[0], bytes[1]);
}

#define SLOTS (1u << 16)

typedef struct block {
    uint64_t start, executions, insns;
} block;
static block table[SLOTS];

static void count_block(uint64_t start, uint64_t insns)
{
    uint32_t at = (uint32_t)(start >> 2) * 2654435761u >> 16;
    while (table[at].insns && (table[at].start != start || table[at].insns != insns))
        at = (at + 1) % SLOTS;
    table[at].start = start;
    table[at].insns = insns;
    table[at].executions++;
}

/* Does it end a block: a branch, or an instruction that enters the system? */
static int ends(uint32_t op)
{
    return (op >> 26 & 0x1f) == 5 || (op >> 25 & 0x3f) == 0x1a || (op >> 25 & 0x3f) == 0x1b || op >> 25 == 0x2a ||
           op >> 25 == 0x6b || op >> 24 == 0xd4;
}

static void blocks(stream s)
{
    uint64_t pc = 0, start = 0, n = 0, count = 0, insns = 0;
    int ended = 0;
    for (const uint8_t *p = s.p; p < s.end;) {
        uint32_t op;
        uint64_t next;
        if ((*p & 0x3f) == 1) {
            op = load32(p + 1);
            next = pc + 4;
            p += 5;
        } else if ((*p & 0x3f) == 9) {
            next = load64(p + 1);
            op = load32(p + 9);
            p += 13;
        } else {
            const size_t size = (*p & 7) == 2 ? 9 + ((size_t)1 << (*p >> 4)) : other(p);
            if (size == 0)
                exit(1);
            p += size;
            continue;
        }
        if (n && (ended || next != pc + 4)) {
            count_block(start, n);
            n = 0;
        }
        if (n == 0)
            start = next;
        pc = next;
        ended = ends(op);
        n++;
        insns++;
    }
    if (n)
        count_block(start, n);
    for (uint32_t i = 0; i < SLOTS; i++)
        count += table[i].insns != 0;
    printf("%" PRIu64 " instructions in %" PRIu64 " blocks\n", insns, count);
}

int main(int argc, char **argv)
{
    size_t size;
    if (argc != 3)
        return 2;
    const uint8_t *data = map_file(argv[2], &size);
    const stream s = {data, data + size};
    if (strcmp(argv[1], "walk") == 0)
        walk(s);
    else if (strcmp(argv[1], "mix") == 0)
        mix(s);
    else if (strcmp(argv[1], "block") == 0)
        blocks(s);
    else
        return 2;
    return 0;
}
