/* Fixed byte layouts of CTF files: packets of metadata, packets of the 2010 dialect, LTTng's index files.
 *
 *   metadata packet of 1.8 and 2, 37 bytes, byte order shown by its magic number (content follows, then padding):
 *     0 magic 0x75D11D57  4 uuid[16]  20 checksum u32  24 content_size u32 (bits)  28 packet_size u32 (bits)
 *     32 compression u8  33 encryption u8  34 checksum_scheme u8  35 major u8  36 minor u8
 *   44 bytes in CTF2-PMETA: the same, then  37 reserved[3]  40 header_size u32 (bits, 352)
 *
 *   packet of 2010, 48 bytes:
 *     0 magic 0xC1FC1FC1  4 session_id u32  8 content_size u32 (bytes)  12 packet_size u32 (bytes)  16 checksum u32
 *     20 section_packet_count u32  24 timestamp_begin u64  32 timestamp_end u64  40 events_discarded u32
 *     44 section_packet_count_bits u8  45 compression u8  46 encryption u8  47 checksum_scheme u8
 *
 *   index/NAME.idx of LTTng, big-endian: 0 magic 0xC1F1DCC1  4 major u32  8 minor u32  12 entry size u32, then entries:
 *     0 offset (bytes)  8 packet_size (bits)  16 content_size (bits)  24 timestamp_begin  32 timestamp_end
 *     40 events_discarded  48 stream_id  and since 1.1  56 stream_instance_id  64 packet_seq_num */
#ifndef TL_FORMAT_CTF_LAYOUT_H
#define TL_FORMAT_CTF_LAYOUT_H

enum ctf_magic {
    CTF_MAGIC_PACKET = (int)0xc1fc1fc1,
    CTF_MAGIC_METADATA = 0x75d11d57,
    CTF_MAGIC_INDEX = (int)0xc1f1dcc1
};

enum ctf_metadata_packet {
    CTF_META_UUID = 4,
    CTF_META_CHECKSUM = 20,
    CTF_META_CONTENT_SIZE = 24,
    CTF_META_PACKET_SIZE = 28,
    CTF_META_COMPRESSION = 32,
    CTF_META_ENCRYPTION = 33,
    CTF_META_CHECKSUM_SCHEME = 34,
    CTF_META_MAJOR = 35,
    CTF_META_MINOR = 36,
    CTF_META_SIZE = 37,
    CTF_META_HEADER_SIZE = 40, /* only CTF2-PMETA */
    CTF_META_LONG_SIZE = 44
};

enum ctf_2010_packet {
    CTF_2010_SESSION = 4,
    CTF_2010_CONTENT_SIZE = 8,
    CTF_2010_PACKET_SIZE = 12,
    CTF_2010_CHECKSUM = 16,
    CTF_2010_COUNT = 20,
    CTF_2010_BEGIN = 24,
    CTF_2010_END = 32,
    CTF_2010_DISCARDED = 40,
    CTF_2010_COUNT_BITS = 44,
    CTF_2010_COMPRESSION = 45,
    CTF_2010_ENCRYPTION = 46,
    CTF_2010_CHECKSUM_SCHEME = 47,
    CTF_2010_HEADER = 48
};

enum ctf_index_file {
    CTF_INDEX_MAJOR = 4,
    CTF_INDEX_MINOR = 8,
    CTF_INDEX_ENTRY_SIZE = 12,
    CTF_INDEX_HEADER = 16,
    CTF_INDEX_ENTRY = 72
};

#endif
