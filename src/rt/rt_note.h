/* Notes: lines of text about the recording that are kept in it, outside of anything that is overwritten.
 *
 * A line is a word, then key=value pairs with blanks between them; the last value may hold blanks and goes to the end
 * of the line (rt_line_escaped). A later line about the same thing replaces an earlier one.
 *
 *   traceloom version=1
 *   process pid=4711 parent=4700 start=1790000000000000000 exe=/usr/bin/app
 *                start: ns since 1970
 *   clock name=tsc hz=2596096000 ticks=123 raw=55 unix=1790000000000000000
 *                one moment, on three clocks
 *   object id=1 base=0 count=123 bias=0x55d0c0000000 hooks=sleds build-id=0a1b.. path=/usr/bin/app
 *                its functions are base+1 .. base+count: run k of the object's xray_instr_map; count=0: it has no
 *                sleds, but functions by address lie in it. build-id=- if it has none
 *   frames object=3 first=164 at=5a10,1c0,30
 *                patched functions from the number `first` on: an address without bias, then differences, hexadecimal
 *   patched object=3 functions=727 patched=725 late=3 ends=1053 ends-patched=1050 why=it shares ... (2)
 *                how many there are, and why some are left out
 *   function id=77 object=1 address=0x1139
 *                -finstrument-functions: address without bias
 *   function id=99 name=load page
 *                a span by hand, or any function that is only a name
 *   event id=3 kind=instant|counter fields=bytes:u64,what:string name=cache miss
 *   option mode=fdr threshold=5000 ring=67108864 limit=0 depth=0 func=1 not=0
 *                func, not: how many patterns
 *   thread tid=4712 name=worker
 *   lost late=0 depth=0 memory=0 disk=0 exits=0 threads=0
 *   end unix=.. ticks=..
 *                the recording was finished
 *
 * In FDR files they are the payload of custom events (fdr_layout.h), in recorded profiles a chain of texts
 * (live_layout.h), in CTF they go where CTF has a place for them. The library reads them in model/recording.c. */
#ifndef TL_RT_NOTE_H
#define TL_RT_NOTE_H

#include "rt/rt_say.h"

/* Adds one line (without line feed) to the recording, in every mode that is on. False if there was no room. From
 * anywhere, with the calling thread's lane busy or without a lane. */
bool tl_rt_note(const rt_line *l);
/* The notes that every recording begins with: traceloom, process, clock, option, object. Not from hooks. */
void tl_rt_note_begin(void);
void tl_rt_note_options(void); /* the option line again, after a change */
/* clock, thread, lost, end. Not from hooks. */
void tl_rt_note_end(void);

/* Parts of tl_rt_note_begin(): objects, functions by address, and sites of spans known so far. */
void tl_rt_objects_note(void);
void tl_rt_ids_note(void);
void tl_rt_spans_note(void);

#endif
