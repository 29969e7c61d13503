/* Reading JSON piece by piece: tokens, wrong forms, values, copies. */
#include "check.h"

#include "base/json_reader.h"

#include <stdlib.h>

/* Tokens of a text as letters: { } [ ] k s n t f 0 . (end) ! (bad). */
static const char *tokens(const char *json, char out[64])
{
    static const char letters[] = ".{}[]ksntf0!";
    sp_json_reader reader;
    size_t count = 0;
    sp_json_reader_init(&reader, json, strlen(json));
    while (count < 62) {
        sp_json_token token = sp_json_next(&reader, NULL);
        out[count++] = letters[token];
        if (token == SP_JSON_END || token == SP_JSON_BAD)
            break;
    }
    out[count] = '\0';
    return out;
}

static void tells_tokens(void)
{
    char out[64];
    CHECK_TEXT(tokens("{}", out), "{}.");
    CHECK_TEXT(tokens("  [ ] \n", out), "[].");
    CHECK_TEXT(tokens("{\"a\": 1, \"b\" :[true,false,null], \"c\":{}}", out), "{knk[tf0]k{}}.");
    CHECK_TEXT(tokens("\xEF\xBB\xBF" "\"x\"", out), "s.");
    CHECK_TEXT(tokens("[-0.5e+3, NaN, -Infinity, 12]", out), "[nnnn].");
    CHECK_TEXT(tokens("0", out), "n.");
}

static void refuses_wrong_forms(void)
{
    static const char *const wrong[] = {
        "", "  ", "{", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{,}", "{1:2}", "]", "[}", "{]", "1 2", "[] []", "01", "1.", ".5", "1e", "+1", "tru", "nul",
        "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "\"\xff\"", "\"\xed\xa0\x80\"", "[1]]", "{\"a\":1}}",
        "'a'", "[1;2]", "-", "--1", "{\"a\" 1}", "[\"a\":1]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char out[64];
        size_t length = strlen(tokens(wrong[i], out));
        if (out[length - 1] != '!')
            fprintf(stderr, "taken for JSON: %s\n", wrong[i]);
        CHECK_INT(out[length - 1], '!');
    }
}

static void refuses_deep_nesting_without_deep_stack(void)
{
    size_t levels = 100000;
    char *deep = malloc(levels + 1);
    sp_json_reader reader;
    sp_json_token token = SP_JSON_END;
    memset(deep, '[', levels);
    sp_json_reader_init(&reader, deep, levels);
    for (int i = 0; i <= SP_JSON_MAX_DEPTH; i++)
        token = sp_json_next(&reader, NULL);
    CHECK_INT(token, SP_JSON_BAD);
    CHECK_CONTAINS(reader.trouble, "deeply");
    CHECK_INT(sp_json_next(&reader, NULL), SP_JSON_BAD);
    free(deep);
}

static const char *decoded(const char *json)
{
    static char out[64];
    sp_json_reader reader;
    sp_json_text span;
    sp_text text = {0};
    sp_json_reader_init(&reader, json, strlen(json));
    CHECK_INT(sp_json_next(&reader, &span), SP_JSON_STRING);
    sp_json_decode(&text, span);
    snprintf(out, sizeof out, "%s", text.bytes);
    sp_text_release(&text);
    return out;
}

static void decodes_texts(void)
{
    CHECK_TEXT(decoded("\"plain\""), "plain");
    CHECK_TEXT(decoded("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\/\b\f\n\r\t");
    CHECK_TEXT(decoded("\"\\u00e9\\u65e5\""), "\xc3\xa9\xe6\x97\xa5");
    CHECK_TEXT(decoded("\"\\ud83d\\ude80!\""), "\xf0\x9f\x9a\x80!");
    CHECK_TEXT(decoded("\"\\ud83dx\""), "\xEF\xBF\xBDx");
    CHECK_TEXT(decoded("\"\\ude80\\ud83d\""), "\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(sp_json_equals((sp_json_text){"a\\u0062c", 8}, "abc"));
    CHECK(!sp_json_equals((sp_json_text){"abcd", 4}, "abc"));
}

static void reads_numbers(void)
{
    int64_t integer = 0;
    double real = 0;
    CHECK(sp_json_integer_of((sp_json_text){"9223372036854775807", 19}, &integer));
    CHECK(integer == INT64_MAX);
    CHECK(sp_json_integer_of((sp_json_text){"-9223372036854775808", 20}, &integer));
    CHECK(integer == INT64_MIN);
    CHECK(!sp_json_integer_of((sp_json_text){"9223372036854775808", 19}, &integer));
    CHECK(!sp_json_integer_of((sp_json_text){"1.0", 3}, &integer));
    CHECK(!sp_json_integer_of((sp_json_text){"-", 1}, &integer));
    CHECK(sp_json_real_of((sp_json_text){"-2.5e-3", 7}, &real));
    CHECK_REAL(real, -0.0025, 0);
    CHECK(sp_json_real_of((sp_json_text){"NaN", 3}, &real) && isnan(real));
}

static void check_copy(const char *json, int indent, const char *expected)
{
    sp_json_reader reader;
    sp_json_text span;
    sp_text out = {0};
    sp_json_reader_init(&reader, json, strlen(json));
    sp_json_token first = sp_json_next(&reader, &span);
    CHECK_INT(sp_json_copy(&out, &reader, first, span, indent, 0), expected != NULL);
    if (expected != NULL)
        CHECK_TEXT(out.bytes, expected);
    sp_text_release(&out);
}

/* The expected texts are those of Python's json.dumps. */
static void copies_values(void)
{
    const char *json = " {\"a\" :[1,2.50 , {}],\"\\u00e9\":{\"x\":NaN , \"y\":[ ]}}";
    check_copy(json, 0, "{\"a\": [1, 2.50, {}], \"\xc3\xa9\": {\"x\": null, \"y\": []}}");
    check_copy(json, -1, "{\"a\":[1,2.50,{}],\"\xc3\xa9\":{\"x\":null,\"y\":[]}}");
    check_copy(json, 1, "{\n \"a\": [\n  1,\n  2.50,\n  {}\n ],\n \"\xc3\xa9\": {\n  \"x\": null,\n"
                        "  \"y\": []\n }\n}");
    check_copy("\"t\"", 0, "\"t\"");
    check_copy("[1", 0, NULL);
}

static void skips_values(void)
{
    const char *json = "[[1, [2]], {\"a\": {}}, 7]";
    sp_json_reader reader;
    sp_json_text span;
    sp_json_reader_init(&reader, json, strlen(json));
    CHECK_INT(sp_json_next(&reader, NULL), SP_JSON_ARRAY);
    CHECK(sp_json_skip(&reader, sp_json_next(&reader, NULL)));
    CHECK(sp_json_skip(&reader, sp_json_next(&reader, NULL)));
    CHECK_INT(sp_json_next(&reader, &span), SP_JSON_NUMBER);
    CHECK_INT(span.length, 1);
    CHECK_INT(*span.bytes, '7');
}

int main(void)
{
    RUN(tells_tokens);
    RUN(refuses_wrong_forms);
    RUN(refuses_deep_nesting_without_deep_stack);
    RUN(decodes_texts);
    RUN(reads_numbers);
    RUN(copies_values);
    RUN(skips_values);
    return check_result();
}
