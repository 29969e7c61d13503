/* number.h - numbers as text, the same in every locale. */
#ifndef SP_EXPORT_NUMBER_H
#define SP_EXPORT_NUMBER_H

#include "base/text.h"

#include <stdint.h>

/* `decimals` digits after the point, as %.*f; "-" for NaN. */
void sp_text_add_fixed(sp_text *out, double value, int decimals);
/* As %.*e; "-" for NaN. */
void sp_text_add_scientific(sp_text *out, double value, int decimals);
/* Exact below 1000, then three significant digits with k, M or B. */
void sp_text_add_count(sp_text *out, uint64_t count);

#endif
