/* opt_in_tags.h - tag names that are off unless a configuration asks for them, process-wide. */
#ifndef SP_REGISTRY_OPT_IN_TAGS_H
#define SP_REGISTRY_OPT_IN_TAGS_H

#include "scope_plugin.h"

/* Adding one twice is fine. SP_ERR_INVALID_ARGUMENT for an empty tag. Any thread. */
int sp_opt_in_tag_add(const char *tag, sp_error *error);
bool sp_opt_in_tag_has(const char *tag);
/* Grows with every new tag: whoever derived something from the set looks whether it changed. */
uint32_t sp_opt_in_tag_count(void);

#endif
