/* Colours of regions: names that end within a character. What names give is checked in tests/python. */
#include "base/colour.h"
#include "check.h"

static void half_a_character(void)
{
    /* Nothing is read behind the end: what follows it makes no difference. */
    static const char cut[] = "\xf0\x9f\0x", other[] = "\xf0\x9f\0y";
    CHECK_INT(sp_colour_of_region(cut), sp_colour_of_region(other));
    CHECK(sp_colour_of_region(cut) <= 0xffffff);
}

static void table(void)
{
    for (unsigned hue = 0; hue < SP_COLOUR_HUES; hue++)
        for (unsigned depth = 0; depth < SP_COLOUR_DEPTHS; depth++)
            CHECK(sp_colour(hue, depth) != sp_colour(hue + 1, depth) &&
                  sp_colour(hue, depth) != sp_colour(hue, depth + 1));
    CHECK_INT(sp_colour(SP_COLOUR_HUES, 0), sp_colour(0, 0));
}

int main(void)
{
    RUN(half_a_character);
    RUN(table);
    return check_result();
}
