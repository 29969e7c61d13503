#include "export/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_ROOM = 400 }; /* the largest double has 309 digits before the point */

/* printf writes the decimal sign of the locale, which may be several bytes: whatever is neither
 * digit, sign nor exponent is it. */
static void add_plain(sp_text *out, const char *number)
{
    static const char plain[] = "0123456789+-einf";
    while (*number != '\0') {
        size_t count = strspn(number, plain);
        sp_text_add_n(out, number, count);
        number += count;
        if (*number == '\0')
            break;
        sp_text_add_n(out, ".", 1);
        while (*number != '\0' && strchr(plain, *number) == NULL)
            number++;
    }
}

void sp_text_add_fixed(sp_text *out, double value, int decimals)
{
    char number[DIGITS_ROOM];
    if (isnan(value)) {
        sp_text_add(out, "-");
        return;
    }
    snprintf(number, sizeof number, "%.*f", decimals, value);
    add_plain(out, number);
}

void sp_text_add_scientific(sp_text *out, double value, int decimals)
{
    char number[DIGITS_ROOM];
    if (isnan(value)) {
        sp_text_add(out, "-");
        return;
    }
    snprintf(number, sizeof number, "%.*e", decimals, value);
    add_plain(out, number);
}

void sp_text_add_count(sp_text *out, uint64_t count)
{
    static const char units[] = {'k', 'M', 'B'};
    if (count < 1000) {
        sp_text_format(out, "%" PRIu64, count);
        return;
    }
    double value = (double)count / 1000.0;
    size_t unit = 0;
    /* 999.5 and more round to four digits, which is one of the next unit. */
    for (; value >= 999.5 && unit + 1 < sizeof units; unit++)
        value /= 1000.0;
    sp_text_add_fixed(out, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    sp_text_add_n(out, &units[unit], 1);
}
