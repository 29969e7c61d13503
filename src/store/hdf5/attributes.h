/* attributes.h - writing attributes. */
#ifndef SP_STORE_HDF5_ATTRIBUTES_H
#define SP_STORE_HDF5_ATTRIBUTES_H

#include "scope_plugin.h"

#include <hdf5.h>

/* One attribute of the object; one of that name is replaced. Texts become UTF-8. A list of more
 * than SP_HDF5_MAX_LIST texts does not fit into an attribute and is stored as one text, a JSON
 * list. */
enum { SP_HDF5_MAX_LIST = 4000 };
int sp_hdf5_write_attribute(hid_t object, hid_t text_type, const sp_metadata_entry *entry,
                            sp_error *error);

#endif
