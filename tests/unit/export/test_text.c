/* Numbers, widths and patterns. */
#include "check.h"
#include "export/number.h"
#include "export/pattern.h"
#include "export/width.h"

#include <locale.h>
#include <stdlib.h>

static void check_count(uint64_t count, const char *expected)
{
    sp_text text = {0};
    sp_text_add_count(&text, count);
    CHECK_TEXT(text.bytes, expected);
    sp_text_release(&text);
}

static void counts(void)
{
    check_count(0, "0");
    check_count(1, "1");
    check_count(999, "999");
    check_count(1000, "1.00k");
    check_count(1234, "1.23k");
    check_count(9994, "9.99k");
    check_count(9996, "10.0k");
    check_count(12345, "12.3k");
    check_count(99940, "99.9k");
    check_count(99960, "100k");
    check_count(123456, "123k");
    check_count(999499, "999k");
    check_count(999500, "1.00M");
    check_count(2500000, "2.50M");
    check_count(10000000, "10.0M");
    check_count(UINT64_C(4200000000), "4.20B");
    check_count(UINT64_C(123456000000000), "123456B");
}

static void check_fixed(double value, int decimals, const char *expected)
{
    sp_text text = {0};
    sp_text_add_fixed(&text, value, decimals);
    CHECK_TEXT(text.bytes, expected);
    sp_text_release(&text);
}

static void check_scientific(double value, const char *expected)
{
    sp_text text = {0};
    sp_text_add_scientific(&text, value, 3);
    CHECK_TEXT(text.bytes, expected);
    sp_text_release(&text);
}

static void numbers(void)
{
    check_fixed(10, 6, "10.000000");
    check_fixed(-0.25, 2, "-0.25");
    check_fixed(2.0, 0, "2");
    check_fixed(NAN, 6, "-");
    check_scientific(1.5, "1.500e+00");
    check_scientific(0.00001234, "1.234e-05");
    check_scientific(NAN, "-");
}

/* With a locale whose decimal sign is a comma, where the system has one. */
static void numbers_in_another_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            break;
    numbers();
    counts();
    setlocale(LC_ALL, "C");
}

static void check_visible(const char *text, const char *expected, size_t width)
{
    sp_text out = {0};
    sp_text_add_visible(&out, text);
    CHECK_TEXT(out.bytes == NULL ? "" : out.bytes, expected);
    CHECK_INT(out.bytes == NULL ? 0 : sp_text_width(out.bytes), width);
    sp_text_release(&out);
}

static void odd_names(void)
{
    check_visible("", "", 0);
    check_visible("solve", "solve", 5);
    check_visible("größe", "größe", 5);
    check_visible("a\tb\nc", "a\\tb\\nc", 7);
    check_visible("\x1b[31mred", "\\x1b[31mred", 11);
    check_visible("\x7f", "\\x7f", 4);
    check_visible("e\u0301", "e\u0301", 1);               /* e and a combining acute */
    check_visible("漢字", "漢字", 4);                     /* East Asian, two columns each */
    check_visible("🚀", "🚀", 2);
    check_visible("a\u200bb", "a\u200bb", 2);             /* zero width space */
    check_visible("\u202eabc", "\\u202eabc", 9);          /* would turn the line around */
    check_visible("bad\xff" "byte", "bad\xEF\xBF\xBD" "byte", 8);
    check_visible("\xc2\x85", "\\x85", 4);
    check_visible("│ └─", "│ └─", 4);
    check_visible("↻", "↻", 1);
}

/* 1 fits, 0 does not, -1 is no pattern. */
static void check_pattern(const char *expression, const char *name, int expected)
{
    sp_pattern *pattern = NULL;
    sp_error error = {0};
    int fits = -1;
    if (sp_pattern_compile(expression, &pattern, &error) == SP_OK)
        fits = sp_pattern_matches(pattern, name);
    else
        CHECK_CONTAINS(error.text, "is not a regular expression");
    if (!CHECK_INT(fits, expected))
        fprintf(stderr, "pattern %s, name %s: %s\n", expression, name, error.text);
    sp_pattern_free(pattern);
}

static void patterns(void)
{
    check_pattern("sol", "solve", 1); /* anchored at the start only */
    check_pattern("olve", "solve", 0);
    check_pattern(".*olve", "solve", 1);
    check_pattern("solve$", "solver", 0);
    check_pattern("solve\\Z", "solve", 1);
    check_pattern("a|b", "b", 1);
    check_pattern("a|b", "cb", 0); /* the anchor holds for both */
    check_pattern("step\\d+$", "step42", 1);
    check_pattern("step\\d+$", "stepx", 0);
    check_pattern("\\w+\\s\\w+", "two words", 1);
    check_pattern("\\D+$", "ab1", 0);
    check_pattern("[\\d_]+$", "1_2", 1);
    check_pattern("[^\\s]+$", "a b", 0);
    check_pattern("[a-c]+?x", "abcx", 1);
    check_pattern("a*?b", "aab", 1);
    check_pattern("(?:ab)+$", "abab", 1);
    check_pattern("a{2,3}$", "aaa", 1);
    check_pattern("a{2,3}?$", "a", 0);
    check_pattern("a{,2}$", "aa", 1);
    check_pattern("f{x}", "f{x}", 1);
    check_pattern("[]x]+$", "]x", 1);
    check_pattern("[\\]x]+$", "]x", 1);
    check_pattern("[a\\-z]+$", "a-z", 1);
    check_pattern("[a\\-z]+$", "b", 0);
    check_pattern("[a-]+$", "-a", 1);
    check_pattern("[\\^]", "^", 1);
    check_pattern("[\\\\]", "\\", 1);
    check_pattern("a\\.b", "a.b", 1);
    check_pattern("a\\.b", "axb", 0);
    check_pattern("mpi:send kind=.* bytes=8", "mpi:send kind=p2p bytes=8 peer=1", 1);
    check_pattern("", "anything", 1);
    check_pattern("größe", "größe", 1);
}

static void what_is_no_pattern(void)
{
    check_pattern("(", "x", -1);
    check_pattern("[a", "a", -1);
    check_pattern("a\\", "a", -1);
    check_pattern("(?=x)", "x", -1);
    check_pattern("\\p", "p", -1);
    check_pattern("*", "x", -1);
}

int main(void)
{
    RUN(counts);
    RUN(numbers);
    RUN(numbers_in_another_locale);
    RUN(odd_names);
    RUN(patterns);
    RUN(what_is_no_pattern);
    return check_result();
}
