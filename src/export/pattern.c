/* pattern.c - the usual syntax translated to that of POSIX, which the C library matches. */
#include "export/pattern.h"

#include "base/error.h"
#include "base/text.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct sp_pattern {
    regex_t compiled;
};

/* A class such as \d: what stands for it inside and outside of brackets. */
static const struct {
    char letter;
    const char *inside, *outside;
} classes[] = {
    {'d', "0-9", "[0-9]"},
    {'D', NULL, "[^0-9]"},
    {'w', "[:alnum:]_", "[[:alnum:]_]"},
    {'W', NULL, "[^[:alnum:]_]"},
    {'s', "[:space:]", "[[:space:]]"},
    {'S', NULL, "[^[:space:]]"},
    {'t', "\t", "\t"},
    {'n', "\n", "\n"},
    {'r', "\r", "\r"},
    {'A', NULL, "^"},
    {'Z', NULL, "$"},
    {'b', NULL, "\\b"},
    {'B', NULL, "\\B"},
};

typedef struct translation {
    const char *at; /* next character of the expression */
    sp_text out;
    const char *trouble; /* what cannot be translated */
} translation;

static const char *class_of(char letter, bool is_inside)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].letter == letter)
            return is_inside ? classes[i].inside : classes[i].outside;
    return NULL;
}

static void translate_escape(translation *t)
{
    char letter = t->at[1];
    const char *translated = class_of(letter, false);
    if (letter == '\0')
        t->trouble = "it ends in a backslash";
    else if (translated != NULL)
        sp_text_add(&t->out, translated);
    else if (isalnum((unsigned char)letter))
        t->trouble = "it holds an escape that is not supported";
    else
        sp_text_add_n(&t->out, t->at, 2);
    t->at += letter == '\0' ? 1 : 2;
}

/* Characters with a meaning of their own in brackets, which POSIX tells by their place. */
typedef struct bracket {
    bool negated, closing, caret, dash;
    sp_text rest;
} bracket;

static void add_to_bracket(translation *t, bracket *set, bool is_first)
{
    char c = *t->at;
    if (c == '\\') {
        const char *translated = class_of(t->at[1], true);
        c = t->at[1];
        if (translated != NULL)
            sp_text_add(&set->rest, translated);
        else if (c == ']' || c == '^' || c == '-')
            *(c == ']' ? &set->closing : c == '^' ? &set->caret : &set->dash) = true;
        else if (c == '\0' || isalnum((unsigned char)c))
            t->trouble = "it holds an escape that is not supported";
        else
            sp_text_add_n(&set->rest, &c, 1);
        t->at += c == '\0' ? 1 : 2;
        return;
    }
    if (c == ']' && is_first)
        set->closing = true;
    else if (c == '^' && set->rest.length == 0)
        set->caret = true;
    else if (c == '-' && (is_first || t->at[1] == ']'))
        set->dash = true;
    else
        sp_text_add_n(&set->rest, &c, 1);
    t->at++;
}

static void write_bracket(translation *t, const bracket *set)
{
    bool only_caret = set->caret && !set->closing && !set->dash && set->rest.length == 0;
    if (only_caret && !set->negated) {
        sp_text_add(&t->out, "\\^");
        return;
    }
    sp_text_add(&t->out, set->negated ? "[^" : "[");
    sp_text_add(&t->out, set->closing ? "]" : "");
    sp_text_add_n(&t->out, set->rest.bytes, set->rest.length);
    sp_text_add(&t->out, set->caret ? "^" : "");
    sp_text_add(&t->out, set->dash ? "-]" : "]");
}

static void translate_bracket(translation *t)
{
    bracket set = {0};
    t->at++;
    set.negated = *t->at == '^';
    t->at += set.negated;
    const char *first = t->at;
    while (*t->at != '\0' && t->trouble == NULL && (*t->at != ']' || t->at == first))
        add_to_bracket(t, &set, t->at == first);
    if (t->trouble == NULL && *t->at != ']')
        t->trouble = "a bracket is not closed";
    else if (t->trouble == NULL) {
        write_bracket(t, &set);
        t->at++;
    }
    t->out.failed = t->out.failed || set.rest.failed;
    sp_text_release(&set.rest);
}

static void translate_group(translation *t)
{
    if (t->at[1] != '?') {
        sp_text_add(&t->out, "(");
        t->at++;
    } else if (t->at[2] == ':') {
        sp_text_add(&t->out, "(");
        t->at += 3;
    } else {
        t->trouble = "of the groups that start with (? only (?:...) is supported";
    }
}

/* A brace that is no quantifier stands for itself. */
static void translate_brace(translation *t)
{
    size_t low = strspn(t->at + 1, "0123456789");
    const char *end = t->at + 1 + low;
    size_t high = *end == ',' ? strspn(end + 1, "0123456789") : 0;
    end += *end == ',' ? 1 + high : 0;
    if (*end != '}' || low + high == 0) {
        sp_text_add(&t->out, "\\{");
        t->at++;
        return;
    }
    sp_text_add(&t->out, low == 0 ? "{0" : "{");
    sp_text_add_n(&t->out, t->at + 1, (size_t)(end - t->at));
    t->at = end + 1;
    t->at += *t->at == '?';
}

static void translate_next(translation *t)
{
    switch (*t->at) {
    case '\\':
        translate_escape(t);
        break;
    case '[':
        translate_bracket(t);
        break;
    case '(':
        translate_group(t);
        break;
    case '{':
        translate_brace(t);
        break;
    case '*':
    case '+':
    case '?':
        sp_text_add_n(&t->out, t->at++, 1);
        t->at += *t->at == '?'; /* how much a quantifier takes does not change whether it fits */
        break;
    default:
        sp_text_add_n(&t->out, t->at++, 1);
    }
}

static int compile(const char *expression, const char *translated, sp_pattern **out,
                   sp_error *error)
{
    char reason[200];
    sp_pattern *pattern = calloc(1, sizeof *pattern);
    if (pattern == NULL)
        return sp_fail_memory(error, "compiling a pattern");
    int code = regcomp(&pattern->compiled, translated, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, &pattern->compiled, reason, sizeof reason);
        free(pattern);
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "'%s' is not a regular expression: %s",
                       expression, reason);
    }
    *out = pattern;
    return SP_OK;
}

int sp_pattern_compile(const char *expression, sp_pattern **out, sp_error *error)
{
    translation t = {.at = expression};
    sp_text_add(&t.out, "^(");
    while (*t.at != '\0' && t.trouble == NULL)
        translate_next(&t);
    sp_text_add(&t.out, ")");
    int status = SP_OK;
    if (t.trouble != NULL)
        status = sp_fail(error, SP_ERR_INVALID_ARGUMENT, "'%s' is not a regular expression: %s",
                         expression, t.trouble);
    else if (t.out.failed)
        status = sp_fail_memory(error, "compiling a pattern");
    else
        status = compile(expression, t.out.bytes, out, error);
    sp_text_release(&t.out);
    return status;
}

bool sp_pattern_matches(const sp_pattern *pattern, const char *name)
{
    return regexec(&pattern->compiled, name, 0, NULL, 0) == 0;
}

void sp_pattern_free(sp_pattern *pattern)
{
    if (pattern == NULL)
        return;
    regfree(&pattern->compiled);
    free(pattern);
}
