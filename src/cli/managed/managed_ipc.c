/* The diagnostics port of CoreCLR. A message is
 *
 *   "DOTNET_IPC_V1" 0   u16 size of all   u8 set   u8 command   u16 0
 *
 * and what belongs to the command. AttachProfiler (3, 1): u32 ms that it may take, the profiler's number, its path and
 * settings. The answer (255, 0), or (255, 255) after a failure: u32 status. Texts are UTF-16 with a zero at the end,
 * and their length in front. All numbers have the lowest byte first. */
#include "cli/managed/managed_ipc.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/text/utf8.h"
#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/record/process_status.h"
#include "managed/managed_layout.h"

enum { HEADER = 20, SET_PROFILER = 3, ATTACH_PROFILER = 1, SET_SERVER = 255, ANSWER_MOST = 1024, PATIENCE_MS = 10000 };

static const char magic[14] = "DOTNET_IPC_V1";
/* {74726163-656c-6f6f-6d2d-636c72000001} */
static const uint8_t number[16] = {0x63, 0x61, 0x72, 0x74, 0x6c, 0x65, 0x6f, 0x6f,
                                   0x6d, 0x2d, 0x63, 0x6c, 0x72, 0,    0,    1};

/* ---- where it is ---- */

/* The folder that the process has for such files. */
static void folder_of(long pid, char *out, size_t size)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(out, size, "/tmp");
    snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    FILE *f = fopen(path, "re");
    while (f && getdelim(&line, &room, 0, f) > 0)
        if (strncmp(line, "TMPDIR=", 7) == 0 && line[7])
            snprintf(out, size, "%s", line + 7);
    if (f)
        fclose(f);
    free(line);
}

static bool is_of(int port, long pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(port, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == (pid_t)pid;
}

int tl_managed_port(long pid, const char *name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    unsigned long long ticks;
    char folder[sizeof to.sun_path];
    if (!tl_process_start(pid, &ticks)) { /* a part of the name, so that one left by another process is none */
        tl_say_error(name, "process %ld has ended", pid);
        return -1;
    }
    folder_of(pid, folder, sizeof folder);
    const long inner = tl_process_inner(pid, 0);
    /* In a container, the folder and the number are other ones. */
    char root[64] = "";
    if (inner != pid)
        snprintf(root, sizeof root, "/proc/%ld/root", pid);
    const int n =
        snprintf(to.sun_path, sizeof to.sun_path, "%s%s/dotnet-diagnostic-%ld-%llu-socket", root, folder, inner, ticks);
    const int port = n > 0 && (size_t)n < sizeof to.sun_path ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (port >= 0 && connect(port, (const struct sockaddr *)&to, sizeof to) == 0 && is_of(port, pid))
        return port;
    tl_say_error(name,
                 "process %ld cannot be attached to: no port at %s (%s); its runtime is older than 3.1, or was started "
                 "with COMPlus_EnableDiagnostics=0 or DOTNET_EnableDiagnostics=0",
                 pid, to.sun_path, port < 0 ? "its name is too long" : strerror(errno ? errno : ECONNREFUSED));
    if (port >= 0)
        close(port);
    return -1;
}

/* ---- messages ---- */

typedef struct message {
    uint8_t byte[UINT16_MAX];
    size_t n;
    bool full;
} message;

static void put(message *m, const void *from, size_t n)
{
    m->full = m->full || n > sizeof m->byte - m->n;
    if (m->full)
        return;
    memcpy(m->byte + m->n, from, n);
    m->n += n;
}

static void put16(message *m, unsigned v)
{
    uint8_t b[2];
    tl_store16(b, (uint16_t)v, false);
    put(m, b, sizeof b);
}

static void put32(message *m, size_t v)
{
    uint8_t b[4];
    tl_store32(b, (uint32_t)v, false);
    put(m, b, sizeof b);
}

/* One character of well-formed UTF-8. */
static const char *take_character(const char *s, uint32_t *c)
{
    const uint8_t first = (uint8_t)*s++;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    *c = more ? first & (0x3fu >> more) : first;
    for (int i = 0; i < more; i++)
        *c = *c << 6 | ((uint8_t)*s++ & 0x3f);
    return s;
}

static bool is_utf8(const char *text)
{
    for (size_t n = strlen(text), length; n > 0; text += length, n -= length)
        if (!(length = tl_utf8_length(text, n)))
            return false;
    return true;
}

static void put_utf16(message *m, const char *text)
{
    const size_t at = m->n;
    uint32_t c, units = 0;
    put32(m, 0);
    do {
        text = take_character(text, &c);
        if (c >= 0x10000)
            put16(m, 0xd800 + ((c - 0x10000) >> 10));
        put16(m, c >= 0x10000 ? 0xdc00 + (c & 0x3ff) : c);
        units += c >= 0x10000 ? 2 : 1;
    } while (c);
    if (!m->full)
        tl_store32(m->byte + at, units, false);
}

static bool send_all(int port, const message *m)
{
    for (size_t at = 0; at < m->n;) {
        const ssize_t n = send(port, m->byte + at, m->n - at, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* n bytes; false: the other side closed, or nothing comes, or interrupted. */
static bool receive(int port, uint8_t *to, size_t n)
{
    for (size_t at = 0; at < n;) {
        struct pollfd p = {.fd = port, .events = POLLIN};
        const int ready = tl_interrupted() ? 0 : poll(&p, 1, 3 * PATIENCE_MS);
        const ssize_t got = ready > 0 ? recv(port, to + at, n - at, 0) : 0;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

bool tl_managed_ask_attach(int port, const char *library, const char *settings, uint32_t *status)
{
    static message m;
    uint8_t answer[ANSWER_MOST];
    if (!is_utf8(library) || strlen(settings) > MANAGED_SETTINGS_MOST)
        return false;
    m.n = 0;
    m.full = false;
    put(&m, magic, sizeof magic);
    put16(&m, 0);
    put(&m, (const uint8_t[]){SET_PROFILER, ATTACH_PROFILER, 0, 0}, 4);
    put32(&m, PATIENCE_MS);
    put(&m, number, sizeof number);
    put_utf16(&m, library);
    put32(&m, strlen(settings));
    put(&m, settings, strlen(settings));
    if (m.full)
        return false;
    tl_store16(m.byte + sizeof magic, (uint16_t)m.n, false);
    if (!send_all(port, &m) || !receive(port, answer, HEADER))
        return false;
    const size_t size = tl_load16(answer + sizeof magic, false);
    if (memcmp(answer, magic, sizeof magic) != 0 || answer[16] != SET_SERVER || size < HEADER + 4 ||
        size > sizeof answer || !receive(port, answer + HEADER, size - HEADER))
        return false;
    *status = tl_load32(answer + HEADER, false);
    if (!*status && answer[17]) /* a failure */
        *status = UINT32_MAX;
    return true;
}

const char *tl_managed_status_text(uint32_t status, char buf[static 160])
{
    static const struct {
        uint32_t status;
        const char *text;
    } known[] = {
        {0x8013136a, "a profiler is in it already; it stays to the process's end, also one that recorded before"},
        {0x80131368, "the profiler cannot be loaded there"},
        {0x8013136b, "the runtime is too old for this"},
        {0x80131371, "the runtime has only begun; try again"},
        {0x80131373, "the runtime has only begun; try again"},
        {0x80131384, "the runtime does not understand the message"},
        {0x80131385, "the runtime cannot load profilers: it is older than 3.1, or built without"},
        {0x80070002, "the profiler's file is not there, as the process sees it"},
        {0x8007007e, "the profiler cannot be loaded there"},
        {0x80004005, "the profiler gave up there"},
        {0x80004002, "the runtime is older than 3.1"},
    };
    const char *text = "the runtime refuses";
    for (size_t i = 0; i < TL_COUNT(known); i++)
        text = known[i].status == status ? known[i].text : text;
    if ((status & 0xffff0000u) == MANAGED_FAILED_BY)
        snprintf(buf, 160, "it cannot write there: %s", strerror((int)(status & 0xffff)));
    else
        snprintf(buf, 160, "%s (0x%08X)", text, status);
    return buf;
}
