/* The classes of events of instruction streams and snapshots. */
#ifndef TL_XTRACE_CLASSES_H
#define TL_XTRACE_CLASSES_H

#include "traceloom/model.h"

/* Indices of classes, in the order of their names. */
enum {
    XTRACE_CLASS_ALL_GPR,
    XTRACE_CLASS_DC,
    XTRACE_CLASS_FLAGS,
    XTRACE_CLASS_INSN,
    XTRACE_CLASS_LOAD,
    XTRACE_CLASS_MRS,
    XTRACE_CLASS_SNAPSHOT, /* of files of snapshots; all others belong to streams */
    XTRACE_CLASS_STORE,
    XTRACE_CLASS_STXR,
    XTRACE_CLASS_SVC_ARG,
    XTRACE_CLASS_SVC_RET,
    XTRACE_CLASS_VEC,
    XTRACE_CLASS_TARGET,
    XTRACE_CLASS_TIME,
    XTRACE_CLASSES
};

/* Classes of streams; the entry for snapshots is empty, see xtrace_snapshot_class. */
extern const tl_class xtrace_classes[XTRACE_CLASSES];
/* The class of a token XTRACE_STXR .. XTRACE_TARGET, by its h. */
extern const uint8_t xtrace_value_class[6];

#endif
