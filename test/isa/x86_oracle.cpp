// Our decoder of x86-64 beside Zydis' and LLVM's. Test only.
//
//   x86_oracle FILE...             all executable sections of ELF files, from begin to end
//   x86_oracle random COUNT SEED   random bytes behind common prefixes and escapes
//
// What the two oracles do not agree on, as in data between functions, is not compared. A line for each difference (at
// most SHOWN of a kind), then a summary for each file; exit status 1 if there are any.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <elf.h>

#include <Zydis/Zydis.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

extern "C" {
#include "isa/x86/x86_decode.h"
}

namespace
{
const unsigned SHOWN = 20;

class Llvm
{
  public:
    Llvm()
    {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86Disassembler();
        std::string error, triple = "x86_64-linux-gnu";
        const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
        registers.reset(target->createMCRegInfo(triple));
        assembly.reset(target->createMCAsmInfo(*registers, triple, llvm::MCTargetOptions()));
        subtarget.reset(target->createMCSubtargetInfo(triple, "", ""));
        context =
            std::make_unique<llvm::MCContext>(llvm::Triple(triple), assembly.get(), registers.get(), subtarget.get());
        disassembler.reset(target->createMCDisassembler(*subtarget, *context));
        instructions.reset(target->createMCInstrInfo());
    }
    // Length; 0: none. flags: B branch, C call, R return, I indirect, O conditional
    unsigned decode(const uint8_t *code, size_t n, std::string &flags, std::string &name)
    {
        llvm::MCInst insn;
        uint64_t size = 0;
        flags.clear();
        if (disassembler->getInstruction(insn, size, llvm::ArrayRef<uint8_t>(code, n), 0, llvm::nulls()) !=
            llvm::MCDisassembler::Success)
            return 0;
        const llvm::MCInstrDesc &d = instructions->get(insn.getOpcode());
        name = instructions->getName(insn.getOpcode()).str();
        if (d.isCall())
            flags += 'C';
        else if (d.isReturn() || name == "SYSRET" || name == "SYSRET64" || name == "SYSEXIT" || name == "SYSEXIT64")
            flags += 'R';
        else if (d.isIndirectBranch())
            flags += 'I';
        else if (d.isConditionalBranch())
            flags += 'O';
        else if (d.isBranch())
            flags += 'B';
        // LLVM has LOCK, REP and the like as instructions of their own where they stand alone for its tables.
        if (name.size() > 7 && name.compare(name.size() - 7, 7, "_PREFIX") == 0 && n > size) {
            const unsigned rest = decode(code + size, n - size, flags, name);
            return rest ? (unsigned)size + rest : 0;
        }
        return (unsigned)size;
    }

  private:
    std::unique_ptr<llvm::MCRegisterInfo> registers;
    std::unique_ptr<llvm::MCAsmInfo> assembly;
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
    std::unique_ptr<llvm::MCContext> context;
    std::unique_ptr<llvm::MCDisassembler> disassembler;
    std::unique_ptr<llvm::MCInstrInfo> instructions;
};

// EVEX with bits that APX alone gives a meaning: other processors want 0 and 1 there, which both oracles pass over.
bool is_apx(const uint8_t *code, size_t n)
{
    size_t at = 0;
    while (at < n && (memchr("\x26\x2e\x36\x3e\x64\x65\x67", code[at], 7) || (code[at] & 0xf0) == 0x40))
        at++;
    return at + 2 < n && code[at] == 0x62 && (code[at + 1] & 8 || !(code[at + 2] & 4));
}

// What Zydis says of it, in our words.
x86_kind kind_of(const ZydisDecodedInstruction &z)
{
    switch (z.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
        return z.raw.imm[0].is_relative ? X86_CALL : X86_INDIRECT_CALL;
    case ZYDIS_MNEMONIC_JMP:
        return z.raw.imm[0].is_relative ? X86_JUMP : X86_INDIRECT;
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
        return X86_RETURN;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
        return X86_TRAP;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT:
        return X86_SYSCALL;
    case ZYDIS_MNEMONIC_NOP: // others are hints that processors to come may follow
        return z.opcode == 0x90 || z.opcode >= 0x1e ? X86_NOP : X86_OTHER;
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_ENDBR32:
        return X86_NOP;
    default:
        return z.raw.imm[0].is_relative ? X86_COND : X86_OTHER;
    }
}

const char *flags_of(unsigned kind)
{
    switch (kind) {
    case X86_CALL:
    case X86_INDIRECT_CALL:
        return "C";
    case X86_RETURN:
        return "R";
    case X86_INDIRECT:
        return "I";
    case X86_COND:
        return "O";
    case X86_JUMP:
        return "B";
    default:
        return "";
    }
}

struct Comparison {
    const char *path;
    Llvm &llvm;
    ZydisDecoder decoder{};
    uint64_t bytes = 0, insns = 0, differences = 0, disputed = 0, ours_alone = 0;
    std::map<std::string, unsigned> shown{};

    Comparison(const char *name, Llvm &other) : path(name), llvm(other)
    {
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    }

    void differ(uint64_t at, const uint8_t *code, size_t n, const std::string &what)
    {
        differences++;
        if (shown[what]++ >= SHOWN)
            return;
        printf("%s: 0x%" PRIx64 ":", path, at);
        for (size_t i = 0; i < n; i++)
            printf(" %02x", code[i]);
        printf(": %s\n", what.c_str());
    }

    void fields(uint64_t at, const uint8_t *code, const x86_insn &ours, const ZydisDecodedInstruction &z)
    {
        const std::string name = ZydisMnemonicGetString(z.mnemonic);
        const auto &memory = z.raw.disp;
        const auto &branch = z.raw.imm[0];
        const bool has_modrm = z.attributes & ZYDIS_ATTRIB_HAS_MODRM;
        const bool rip = has_modrm && z.raw.modrm.mod == 0 && z.raw.modrm.rm == 5 && memory.size == 32;
        const uint64_t next = at + z.length;
        if (ours.kind != kind_of(z))
            differ(at, code, z.length, "kind: " + name);
        if (ours.rip != rip || (rip && x86_rip_target(&ours, code, at) != next + (uint64_t)memory.value))
            differ(at, code, z.length, "relative operand: " + name);
        if (has_modrm && (ours.modrm_at != z.raw.modrm.offset || ours.disp_size * 8 != memory.size ||
                          (memory.size && ours.disp_at != memory.offset)))
            differ(at, code, z.length, "displacement: " + name);
        if ((ours.rel_at != 0) != branch.is_relative)
            differ(at, code, z.length, "relative: " + name);
        else if (ours.rel_at && (ours.rel_at != branch.offset || ours.rel_size * 8 != branch.size ||
                                 x86_branch_target(&ours, code, at) != next + (uint64_t)branch.value.s))
            differ(at, code, z.length, "target: " + name);
    }

    // The instruction's length as the oracles see it; 0: they do not agree, or there is none.
    unsigned compare(uint64_t at, const uint8_t *code, size_t n)
    {
        ZydisDecodedInstruction z;
        ZydisDecoderContext context;
        x86_insn ours;
        std::string flags, name;
        const bool known = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code, n, &z));
        const bool taken = x86_decode(code, n, &ours);
        const unsigned length = llvm.decode(code, n, flags, name);
        if (!known || z.length != length) {
            disputed += known || length;
            ours_alone += !known && !length && taken;
            return known ? z.length : 0;
        }
        insns++;
        const bool apx = is_apx(code, length);
        if (taken == apx)
            differ(at, code, length, (apx ? "not refused: " : "refused: ") + name);
        else if (apx)
            return length;
        else if (ours.length != length)
            differ(at, code, length, "length: " + name);
        else if (flags != flags_of(ours.kind))
            differ(at, code, length, "kind in LLVM: " + name + " " + flags);
        else
            fields(at, code, ours, z);
        return length;
    }

    void sweep(uint64_t address, const uint8_t *code, size_t n)
    {
        bytes += n;
        for (size_t at = 0; at < n;) {
            const unsigned length = compare(address + at, code + at, n - at);
            at += length ? length : 1;
        }
    }

    bool end() const
    {
        printf("%s: %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64 " differences; disputed %" PRIu64
               ", known to us alone %" PRIu64 "\n",
               path, bytes, insns, differences, disputed, ours_alone);
        return differences == 0;
    }
};

// Executable sections of an x86-64 ELF file; others have none.
bool compare_file(const char *path, Llvm &llvm)
{
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    Comparison comparison(path, llvm);
    Elf64_Ehdr header;
    if (file.size() < sizeof header)
        return true;
    memcpy(&header, file.data(), sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != EM_X86_64)
        return true;
    for (uint64_t s = 0; s < header.e_shnum; s++) {
        Elf64_Shdr section;
        if (header.e_shoff + (s + 1) * sizeof section > file.size())
            break;
        memcpy(&section, file.data() + header.e_shoff + s * sizeof section, sizeof section);
        if (section.sh_type == SHT_PROGBITS && section.sh_flags & SHF_EXECINSTR && section.sh_offset <= file.size() &&
            section.sh_size <= file.size() - section.sh_offset)
            comparison.sweep(section.sh_addr, reinterpret_cast<const uint8_t *>(file.data()) + section.sh_offset,
                             section.sh_size);
    }
    return comparison.end();
}

bool compare_random(uint64_t count, unsigned seed, Llvm &llvm)
{
    static const std::vector<std::vector<uint8_t>> begins = {{},           {},     {},     {0x0f},      {0x0f, 0x38},
                                                             {0x0f, 0x3a}, {0xc5}, {0xc4}, {0x62},      {0x8f},
                                                             {0xff},       {0xf6}, {0xf7}, {0xc7, 0xf8}};
    static const std::vector<uint8_t> prefix = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x64, 0x40, 0x41, 0x48, 0x4f};
    std::mt19937 random(seed);
    Comparison comparison("random", llvm);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t code[16];
        size_t n = 0;
        for (unsigned more = random() % 4; more > 1; more--)
            code[n++] = prefix[random() % prefix.size()];
        for (uint8_t b : begins[random() % begins.size()])
            code[n++] = b;
        while (n < sizeof code)
            code[n++] = (uint8_t)random();
        comparison.bytes += sizeof code;
        comparison.compare(0x1000 * i, code, sizeof code);
    }
    return comparison.end();
}

} // namespace

int main(int argc, char **argv)
{
    Llvm llvm;
    bool good = true;
    if (argc == 4 && strcmp(argv[1], "random") == 0)
        good = compare_random(strtoull(argv[2], nullptr, 10), (unsigned)strtoul(argv[3], nullptr, 10), llvm);
    else
        for (int i = 1; i < argc; i++)
            good = compare_file(argv[i], llvm) && good;
    return good ? 0 : 1;
}
