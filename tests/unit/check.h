/* check.h - the whole test harness. A test program calls its cases from main and returns
 * check_result(). A failed check prints where and what, and the case goes on.
 *
 *     static void counts_calls(void) { CHECK_INT(calls(), 3); }
 *     int main(void) { RUN(counts_calls); return check_result(); }
 */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_failures;
static int check_total;
static const char *check_case = "";

#define RUN(function)                                                                              \
    do {                                                                                           \
        check_case = #function;                                                                    \
        function();                                                                                \
    } while (0)

/* Each returns whether it held, so that a case can stop: if (!CHECK(p != NULL)) return; */
#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(actual, expected)                                                                \
    check_int((int64_t)(actual), (int64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK_TEXT(actual, expected) check_text((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_REAL(actual, expected, tolerance)                                                    \
    check_real((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check_contains((text), (part), #text, __FILE__, __LINE__)

static inline int check_place(int held, const char *file, int line)
{
    check_total++;
    if (!held) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s: ", file, line, check_case);
    }
    return held;
}

static inline int check_true(int held, const char *what, const char *file, int line)
{
    if (!check_place(held, file, line))
        fprintf(stderr, "failed: %s\n", what);
    return held;
}

static inline int check_int(int64_t actual, int64_t expected, const char *what, const char *file,
                            int line)
{
    if (!check_place(actual == expected, file, line))
        fprintf(stderr, "%s is %" PRId64 ", expected %" PRId64 "\n", what, actual, expected);
    return actual == expected;
}

static inline int check_text(const char *actual, const char *expected, const char *what,
                             const char *file, int line)
{
    int held = actual != NULL && strcmp(actual, expected) == 0;
    if (!check_place(held, file, line))
        fprintf(stderr, "%s is \"%s\", expected \"%s\"\n", what, actual ? actual : "(null)",
                expected);
    return held;
}

static inline int check_real(double actual, double expected, double tolerance, const char *what,
                             const char *file, int line)
{
    int held = fabs(actual - expected) <= tolerance;
    if (!check_place(held, file, line))
        fprintf(stderr, "%s is %.17g, expected %.17g within %g\n", what, actual, expected,
                tolerance);
    return held;
}

static inline int check_contains(const char *text, const char *part, const char *what,
                                 const char *file, int line)
{
    int held = text != NULL && strstr(text, part) != NULL;
    if (!check_place(held, file, line))
        fprintf(stderr, "%s is \"%s\", without \"%s\"\n", what, text ? text : "(null)", part);
    return held;
}

static inline int check_result(void)
{
    if (check_failures > 0)
        fprintf(stderr, "%d of %d checks failed\n", check_failures, check_total);
    return check_failures > 0;
}

#endif
