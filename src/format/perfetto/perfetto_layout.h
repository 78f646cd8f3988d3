/* Perfetto traces: the field numbers of the messages that are written.
 *
 *   Trace            1 packet*
 *   TracePacket      what kind of packet it is follows from which of its data fields is there
 *   TrackDescriptor  a process, a thread below it, or a counter below that
 *   TrackEvent       begin, end, instant or counter value on a track
 *   PerfSample       a sampled stack of a thread */
#ifndef TL_FORMAT_PERFETTO_LAYOUT_H
#define TL_FORMAT_PERFETTO_LAYOUT_H

enum { TRACE_PACKET = 1 };

/* TracePacket */
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_PREVIOUS_DROPPED = 42,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_PERF_SAMPLE = 66,
    PACKET_FIRST_ON_SEQUENCE = 87
};
enum { SEQUENCE_STATE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };

/* TracePacketDefaults and the TrackEventDefaults in it */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58, EVENT_DEFAULTS_TRACK_UUID = 11 };

/* ClockSnapshot and its Clock */
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3 };

enum { DESCRIPTOR_UUID = 1, DESCRIPTOR_NAME = 2, DESCRIPTOR_PROCESS = 3, DESCRIPTOR_THREAD = 4 };
enum { DESCRIPTOR_PARENT = 5, DESCRIPTOR_COUNTER = 8 };
enum { COUNTER_UNIT = 3, UNIT_COUNT = 2, UNIT_BYTES = 3 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

/* TrackEvent */
enum {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_CATEGORIES = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_DOUBLE_COUNTER_VALUE = 44
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* InternedData, and the EventName, InternedString, Frame, Callstack and Mapping in it: all have the iid first */
enum {
    INTERNED_EVENT_NAMES = 2,
    INTERNED_FUNCTION_NAMES = 5,
    INTERNED_FRAMES = 6,
    INTERNED_CALLSTACKS = 7,
    INTERNED_MAPPING_PATHS = 17,
    INTERNED_MAPPINGS = 19
};
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };
enum { FRAME_FUNCTION_NAME = 2, FRAME_MAPPING = 3, FRAME_REL_PC = 4 };
enum { CALLSTACK_FRAMES = 2, MAPPING_PATH = 7 };

/* PerfSample */
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4 };

/* DebugAnnotation */
enum {
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
    ANNOTATION_DICT = 11,
    ANNOTATION_ARRAY = 12
};

#endif
