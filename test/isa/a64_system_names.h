/* Names of the system registers that programs, kernels and their tools use. */
#ifndef TL_TEST_A64_SYSTEM_NAMES_H
#define TL_TEST_A64_SYSTEM_NAMES_H

#include <stdio.h>

#include "isa/a64_system.h"

#define A64_SYSTEM_NAME_MAX 20u /* with its NUL */

typedef struct named {
    uint16_t number;
    char name[A64_SYSTEM_NAME_MAX];
} named;

#define N A64_SYSTEM_NUMBER

/* Ascending by number. */
static const named names[] = {
    {N(2, 0, 0, 2, 2), "MDSCR_EL1"},
    {N(2, 3, 0, 1, 0), "MDCCSR_EL0"},
    {N(3, 0, 0, 0, 0), "MIDR_EL1"},
    {N(3, 0, 0, 0, 5), "MPIDR_EL1"},
    {N(3, 0, 0, 0, 6), "REVIDR_EL1"},
    {N(3, 0, 0, 4, 0), "ID_AA64PFR0_EL1"},
    {N(3, 0, 0, 4, 1), "ID_AA64PFR1_EL1"},
    {N(3, 0, 0, 4, 4), "ID_AA64ZFR0_EL1"},
    {N(3, 0, 0, 4, 5), "ID_AA64SMFR0_EL1"},
    {N(3, 0, 0, 5, 0), "ID_AA64DFR0_EL1"},
    {N(3, 0, 0, 6, 0), "ID_AA64ISAR0_EL1"},
    {N(3, 0, 0, 6, 1), "ID_AA64ISAR1_EL1"},
    {N(3, 0, 0, 6, 2), "ID_AA64ISAR2_EL1"},
    {N(3, 0, 0, 7, 0), "ID_AA64MMFR0_EL1"},
    {N(3, 0, 0, 7, 1), "ID_AA64MMFR1_EL1"},
    {N(3, 0, 0, 7, 2), "ID_AA64MMFR2_EL1"},
    {N(3, 0, 1, 0, 0), "SCTLR_EL1"},
    {N(3, 0, 1, 0, 1), "ACTLR_EL1"},
    {N(3, 0, 1, 0, 2), "CPACR_EL1"},
    {N(3, 0, 1, 2, 0), "ZCR_EL1"},
    {N(3, 0, 1, 2, 6), "SMCR_EL1"},
    {N(3, 0, 2, 0, 0), "TTBR0_EL1"},
    {N(3, 0, 2, 0, 1), "TTBR1_EL1"},
    {N(3, 0, 2, 0, 2), "TCR_EL1"},
    {N(3, 0, 4, 0, 0), "SPSR_EL1"},
    {N(3, 0, 4, 0, 1), "ELR_EL1"},
    {N(3, 0, 4, 1, 0), "SP_EL0"},
    {N(3, 0, 4, 2, 0), "SPSel"},
    {N(3, 0, 4, 2, 2), "CurrentEL"},
    {N(3, 0, 4, 2, 3), "PAN"},
    {N(3, 0, 4, 2, 4), "UAO"},
    {N(3, 0, 4, 6, 0), "ICC_PMR_EL1"},
    {N(3, 0, 5, 1, 0), "AFSR0_EL1"},
    {N(3, 0, 5, 1, 1), "AFSR1_EL1"},
    {N(3, 0, 5, 2, 0), "ESR_EL1"},
    {N(3, 0, 6, 0, 0), "FAR_EL1"},
    {N(3, 0, 7, 4, 0), "PAR_EL1"},
    {N(3, 0, 10, 2, 0), "MAIR_EL1"},
    {N(3, 0, 10, 3, 0), "AMAIR_EL1"},
    {N(3, 0, 12, 0, 0), "VBAR_EL1"},
    {N(3, 0, 12, 1, 0), "ISR_EL1"},
    {N(3, 0, 12, 11, 5), "ICC_SGI1R_EL1"},
    {N(3, 0, 12, 12, 0), "ICC_IAR1_EL1"},
    {N(3, 0, 12, 12, 1), "ICC_EOIR1_EL1"},
    {N(3, 0, 13, 0, 1), "CONTEXTIDR_EL1"},
    {N(3, 0, 13, 0, 4), "TPIDR_EL1"},
    {N(3, 0, 14, 1, 0), "CNTKCTL_EL1"},
    {N(3, 3, 0, 0, 1), "CTR_EL0"},
    {N(3, 3, 0, 0, 7), "DCZID_EL0"},
    {N(3, 3, 2, 4, 0), "RNDR"},
    {N(3, 3, 2, 4, 1), "RNDRRS"},
    {N(3, 3, 4, 2, 0), "NZCV"},
    {N(3, 3, 4, 2, 1), "DAIF"},
    {N(3, 3, 4, 2, 2), "SVCR"},
    {N(3, 3, 4, 2, 5), "DIT"},
    {N(3, 3, 4, 2, 6), "SSBS"},
    {N(3, 3, 4, 2, 7), "TCO"},
    {N(3, 3, 4, 4, 0), "FPCR"},
    {N(3, 3, 4, 4, 1), "FPSR"},
    {N(3, 3, 4, 5, 0), "DSPSR_EL0"},
    {N(3, 3, 4, 5, 1), "DLR_EL0"},
    {N(3, 3, 9, 12, 0), "PMCR_EL0"},
    {N(3, 3, 9, 12, 1), "PMCNTENSET_EL0"},
    {N(3, 3, 9, 12, 2), "PMCNTENCLR_EL0"},
    {N(3, 3, 9, 12, 3), "PMOVSCLR_EL0"},
    {N(3, 3, 9, 12, 5), "PMSELR_EL0"},
    {N(3, 3, 9, 13, 0), "PMCCNTR_EL0"},
    {N(3, 3, 9, 13, 1), "PMXEVTYPER_EL0"},
    {N(3, 3, 9, 13, 2), "PMXEVCNTR_EL0"},
    {N(3, 3, 9, 14, 0), "PMUSERENR_EL0"},
    {N(3, 3, 13, 0, 2), "TPIDR_EL0"},
    {N(3, 3, 13, 0, 3), "TPIDRRO_EL0"},
    {N(3, 3, 13, 0, 5), "TPIDR2_EL0"},
    {N(3, 3, 13, 0, 7), "SCXTNUM_EL0"},
    {N(3, 3, 14, 0, 0), "CNTFRQ_EL0"},
    {N(3, 3, 14, 0, 1), "CNTPCT_EL0"},
    {N(3, 3, 14, 0, 2), "CNTVCT_EL0"},
    {N(3, 3, 14, 0, 6), "CNTVCTSS_EL0"},
    {N(3, 3, 14, 2, 0), "CNTP_TVAL_EL0"},
    {N(3, 3, 14, 2, 1), "CNTP_CTL_EL0"},
    {N(3, 3, 14, 2, 2), "CNTP_CVAL_EL0"},
    {N(3, 3, 14, 3, 0), "CNTV_TVAL_EL0"},
    {N(3, 3, 14, 3, 1), "CNTV_CTL_EL0"},
    {N(3, 3, 14, 3, 2), "CNTV_CVAL_EL0"},
    {N(3, 4, 1, 0, 0), "SCTLR_EL2"},
    {N(3, 4, 1, 1, 0), "HCR_EL2"},
    {N(3, 4, 1, 1, 2), "CPTR_EL2"},
    {N(3, 4, 2, 0, 0), "TTBR0_EL2"},
    {N(3, 4, 2, 1, 0), "VTTBR_EL2"},
    {N(3, 4, 4, 0, 0), "SPSR_EL2"},
    {N(3, 4, 4, 0, 1), "ELR_EL2"},
    {N(3, 4, 5, 2, 0), "ESR_EL2"},
    {N(3, 4, 6, 0, 0), "FAR_EL2"},
    {N(3, 4, 6, 0, 4), "HPFAR_EL2"},
    {N(3, 4, 12, 0, 0), "VBAR_EL2"},
    {N(3, 4, 13, 0, 2), "TPIDR_EL2"},
    {N(3, 4, 14, 0, 3), "CNTVOFF_EL2"},
    {N(3, 6, 1, 1, 0), "SCR_EL3"},
    {N(3, 6, 4, 0, 0), "SPSR_EL3"},
    {N(3, 6, 4, 0, 1), "ELR_EL3"},
    {N(3, 6, 5, 2, 0), "ESR_EL3"},
};

/* "TPIDR_EL0", or "S3_3_C13_C0_7" if it has no name here. Returns `name`. */
static const char *a64_system_register_name(uint16_t number, char name[static A64_SYSTEM_NAME_MAX])
{
    size_t low = 0, high = TL_COUNT(names);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names[middle].number == number) {
            (void)snprintf(name, A64_SYSTEM_NAME_MAX, "%s", names[middle].name);
            return name;
        }
        if (names[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    (void)snprintf(name, A64_SYSTEM_NAME_MAX, "S%u_%u_C%u_C%u_%u", number >> 14 & 3u, number >> 11 & 7u,
                   number >> 7 & 15u, number >> 3 & 15u, number & 7u);
    return name;
}

#endif
