/* pattern.h - regular expressions over region names, anchored at the start. */
#ifndef SP_EXPORT_PATTERN_H
#define SP_EXPORT_PATTERN_H

#include "scope_plugin.h"

typedef struct sp_pattern sp_pattern;

/* Extended regular expression with what else is in common use: \d \D \w \W \s \S \A \Z \t \n,
 * (?:...), quantifiers that take as little as possible. SP_ERR_INVALID_ARGUMENT names the
 * pattern and what is wrong with it. */
int sp_pattern_compile(const char *expression, sp_pattern **out, sp_error *error);
/* True when the expression fits a beginning of `name`. */
bool sp_pattern_matches(const sp_pattern *pattern, const char *name);
void sp_pattern_free(sp_pattern *pattern);

#endif
