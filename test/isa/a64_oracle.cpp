// What LLVM's disassembler says of words of A64: the other side of test/isa/compare.py. Test only.
//
//   a64_oracle random COUNT SEED          random words, until COUNT of them are instructions
//   a64_oracle kinds TRIES SEED LIMIT     of each of LLVM's names at most LIMIT words: first of ranges in which many names
//                                          are a single word; then an eighth of the tries is random, and the others are an
//                                          instruction found before with some bits changed
//   a64_oracle file PATH                  all words of a file of little-endian words
//
// A line an instruction: word, LLVM's name, reads, writes, of them implicit, flags, text, with tabs between them.
// Flags: L and S may load and store, B branch, C call, R return, I indirect, O conditional, T: PC-relative target.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

namespace
{

struct Regs {
    uint32_t x = 0, v = 0, p = 0;
    std::string rest; // what has no number: VG, FPCR, ...

    void print() const
    {
        printf("\t%x,%x,%x,%s", x, v, p, rest.c_str());
    }
};

class Oracle
{
public:
    bool start()
    {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64Disassembler();
        std::string error, triple = "aarch64-linux-gnu";
        const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
        if (!target)
            return false;
        registers.reset(target->createMCRegInfo(triple));
        llvm::MCTargetOptions options;
        assembler.reset(target->createMCAsmInfo(*registers, triple, options));
        instructions.reset(target->createMCInstrInfo());
        subtarget.reset(target->createMCSubtargetInfo(triple, "", "+all"));
        context = std::make_unique<llvm::MCContext>(llvm::Triple(triple), assembler.get(), registers.get(), subtarget.get());
        disassembler.reset(target->createMCDisassembler(*subtarget, *context));
        printer.reset(target->createMCInstPrinter(llvm::Triple(triple), 0, *assembler, *instructions, *registers));
        analysis.reset(target->createMCInstrAnalysis(instructions.get()));
        printer->setPrintImmHex(false);
        return disassembler && printer && analysis;
    }

    // A line for the word, if it is an instruction; limit: and one of the first so many of its name.
    bool word(uint32_t op, unsigned limit)
    {
        uint8_t bytes[4] = {uint8_t(op), uint8_t(op >> 8), uint8_t(op >> 16), uint8_t(op >> 24)};
        llvm::MCInst inst;
        uint64_t size;
        if (disassembler->getInstruction(inst, size, bytes, 0, llvm::nulls()) != llvm::MCDisassembler::Success)
            return false;
        if (limit && seen[inst.getOpcode()]++ >= limit)
            return false;
        const llvm::MCInstrDesc &desc = instructions->get(inst.getOpcode());
        Regs reads, writes, reads_too, writes_too;
        for (unsigned i = 0; i < inst.getNumOperands(); i++) {
            if (inst.getOperand(i).isReg())
                add(i < desc.getNumDefs() ? writes : reads, inst.getOperand(i).getReg());
        }
        for (llvm::MCPhysReg r : desc.implicit_uses())
            add(reads_too, r);
        for (llvm::MCPhysReg r : desc.implicit_defs())
            add(writes_too, r);
        printf("%08x\t%s", op, instructions->getName(inst.getOpcode()).str().c_str());
        for (const Regs *r : {&reads, &writes, &reads_too, &writes_too})
            r->print();
        print_flags(desc, inst);
        std::string text;
        llvm::raw_string_ostream stream(text);
        printer->printInst(&inst, 0, "", *subtarget, stream);
        stream.flush();
        for (char &c : text)
            c = c == '\t' ? ' ' : c == '\n' ? ';' : c;
        printf("\t%s\n", text.c_str());
        return true;
    }

private:
    void print_flags(const llvm::MCInstrDesc &desc, const llvm::MCInst &inst)
    {
        uint64_t target = 0;
        bool direct = analysis->evaluateBranch(inst, 0x100000000, 4, target);
        printf("\t%s%s%s%s%s%s%s", desc.mayLoad() ? "L" : "", desc.mayStore() ? "S" : "", desc.isBranch() ? "B" : "",
               desc.isCall() ? "C" : "", desc.isReturn() ? "R" : "", desc.isIndirectBranch() ? "I" : "",
               desc.isConditionalBranch() ? "O" : "");
        if (direct)
            printf("T%" PRIx64, target);
    }

    void add(Regs &to, unsigned r)
    {
        if (r == 0)
            return;
        std::string name = registers->getName(r);
        if (name == "WZR" || name == "XZR")
            return;
        if (one(to, name))
            return;
        bool any = false; // of a list: each that is a register by itself
        for (llvm::MCPhysReg part : registers->subregs(r)) {
            std::string of = registers->getName(part);
            any |= of == "WZR" || of == "XZR" || one(to, of);
        }
        if (!any)
            to.rest += name + " ";
    }

    static bool one(Regs &to, const std::string &name)
    {
        if (name == "SP" || name == "WSP")
            return to.x |= 1u << 31, true;
        if (name == "LR")
            return to.x |= 1u << 30, true;
        if (name == "FP")
            return to.x |= 1u << 29, true;
        if (name == "FFR")
            return to.p |= 1u << 16, true;
        if (name == "NZCV")
            return to.p |= 1u << 17, true;
        if (name.compare(0, 2, "ZA") == 0)
            return to.p |= 1u << 20, true;
        if (name == "ZT0")
            return to.p |= 1u << 21, true;
        size_t digits = name.find_first_of("0123456789");
        if (digits == std::string::npos || name.find_first_not_of("0123456789", digits) != std::string::npos)
            return false;
        unsigned number = unsigned(atoi(name.c_str() + digits));
        std::string kind = name.substr(0, digits);
        if ((kind == "X" || kind == "W") && number < 31)
            return to.x |= 1u << number, true;
        if (kind == "P" || kind == "PN")
            return to.p |= 1u << number, true;
        if (kind == "B" || kind == "H" || kind == "S" || kind == "D" || kind == "Q" || kind == "Z")
            return to.v |= 1u << number, true;
        return false;
    }

    std::unique_ptr<llvm::MCRegisterInfo> registers;
    std::unique_ptr<llvm::MCAsmInfo> assembler;
    std::unique_ptr<llvm::MCInstrInfo> instructions;
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
    std::unique_ptr<llvm::MCContext> context;
    std::unique_ptr<llvm::MCDisassembler> disassembler;
    std::unique_ptr<llvm::MCInstPrinter> printer;
    std::unique_ptr<llvm::MCInstrAnalysis> analysis;
    std::map<unsigned, unsigned> seen;
};

// Anybody's random numbers will do, but the same everywhere (splitmix64).
uint64_t random_bits(uint64_t &state)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void random_words(Oracle &oracle, uint64_t count, uint64_t state)
{
    for (uint64_t found = 0; found < count;)
        found += oracle.word(uint32_t(random_bits(state)), 0);
}

void kinds(Oracle &oracle, uint64_t tries, uint64_t state, unsigned limit)
{
    static const uint16_t ranges[] = {0x2518, 0x2519, 0x2520, 0x2528, 0x252c, 0x2550, 0x2558, 0x2560, 0x25a0, 0x25e0, 0x3a00,
                                      0xc008, 0xc00c, 0xc00d, 0xc00e, 0xc00f, 0xc048, 0xc04c, 0xc04e, 0xd460, 0xd4a0, 0xd500,
                                      0xd501, 0xd503, 0xd508, 0xd509, 0xd50b, 0xd523, 0xd528, 0xd52b, 0xd61f, 0xd63f, 0xd65f,
                                      0xd69f, 0xd6bf, 0xdac1, 0xe11f, 0xe13f};
    std::vector<uint32_t> known;
    for (uint32_t high : ranges) {
        for (uint32_t low = 0; low < 0x10000; low++) {
            if (oracle.word(high << 16 | low, limit))
                known.push_back(high << 16 | low);
        }
    }
    for (uint64_t i = 0; i < tries; i++) {
        uint64_t random = random_bits(state);
        uint32_t op = uint32_t(random);
        if ((random >> 32 & 7) && !known.empty()) {
            op = known[(random >> 35) % known.size()];
            for (unsigned changes = 1 + (random & 3); changes > 0; changes--)
                op ^= uint32_t(1) << (random_bits(state) & 31);
        }
        if (oracle.word(op, limit))
            known.push_back(op);
    }
}

int file(Oracle &oracle, const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return perror(path), 1;
    for (uint8_t b[4]; fread(b, 1, 4, in) == 4;)
        oracle.word(uint32_t(b[0]) | uint32_t(b[1]) << 8 | uint32_t(b[2]) << 16 | uint32_t(b[3]) << 24, 0);
    return fclose(in) ? 1 : 0;
}

} // namespace

int main(int argc, char **argv)
{
    Oracle oracle;
    std::string mode = argc > 1 ? argv[1] : "";
    if (!oracle.start()) {
        fprintf(stderr, "a64_oracle: this LLVM has no AArch64\n");
        return 2;
    }
    if (mode == "random" && argc == 4)
        random_words(oracle, strtoull(argv[2], nullptr, 10), strtoull(argv[3], nullptr, 10));
    else if (mode == "kinds" && argc == 5)
        kinds(oracle, strtoull(argv[2], nullptr, 10), strtoull(argv[3], nullptr, 10), unsigned(strtoul(argv[4], nullptr, 10)));
    else if (mode == "file" && argc == 3)
        return file(oracle, argv[2]);
    else
        return fprintf(stderr, "usage: a64_oracle random COUNT SEED | kinds TRIES SEED LIMIT | file PATH\n"), 2;
    return 0;
}
