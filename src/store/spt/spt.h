/* spt.h - native traces (.spt): the calls of one rank as absolute starts and ends, region by region,
 * nothing else. docs/FORMATS.md has the layout.
 *
 * Written as version 2 in the byte order of the machine; versions 1 and 2 are read in both. What the
 * format has no place for - metadata, ids, lanes, tags - is not written. */
#ifndef SP_STORE_SPT_H
#define SP_STORE_SPT_H

#include "scope_plugin.h"

/* Writer entries only (writer half of the layer). A second rank and totals without calls are
 * SP_ERR_UNSUPPORTED. */
extern const sp_store_table sp_spt_writer;

/* Reader entries only (reader half of the layer). */
extern const sp_store_table sp_spt_reader;

/* How a trace begins. */
#define SP_SPT_MAGIC "SCOPEPRF"
enum { SP_SPT_MAGIC_BYTES = 8, SP_SPT_HEADER_BYTES = 24 };

#endif
