#include "store/json_object.h"

#include "base/json.h"
#include "base/vector.h"

#include <stdint.h>
#include <string.h>

enum { MAX_NESTING = 512 };

typedef struct scanner {
    const char *at, *end;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(scanner *s, char wanted)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != wanted)
        return false;
    s->at++;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool scan_string(scanner *s)
{
    if (!take(s, '"'))
        return false;
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at++;
        if (c == '"')
            return true;
        if (c < 0x20)
            return false;
        if (c >= 0x80) {
            const unsigned char *from = (const unsigned char *)--s->at;
            size_t length = sp_utf8_sequence(from, (size_t)(s->end - s->at));
            if (length == 0)
                return false;
            s->at += length;
        }
        if (c != '\\')
            continue;
        if (s->at == s->end || *s->at == '\0' || strchr("\"\\/bfnrtu", *s->at) == NULL)
            return false;
        bool is_code = *s->at++ == 'u';
        for (int i = 0; is_code && i < 4; i++, s->at++)
            if (s->at == s->end || hex_digit(*s->at) < 0)
                return false;
    }
    return false;
}

static size_t skip_digits(scanner *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t)(s->at - from);
}

static bool scan_number(scanner *s)
{
    if (s->at < s->end && *s->at == '-')
        s->at++;
    if (s->at < s->end && *s->at == '0')
        s->at++;
    else if (skip_digits(s) == 0)
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (skip_digits(s) == 0)
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        return skip_digits(s) > 0;
    }
    return true;
}

static bool scan_word(scanner *s)
{
    /* NaN and Infinity are what Python's json writes and reads. */
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= length && memcmp(s->at, words[i], length) == 0) {
            s->at += length;
            return true;
        }
    }
    return false;
}

static bool scan_value(scanner *s, int nesting);

/* Members or elements up to the closing mark. */
static bool scan_list(scanner *s, char close, bool has_keys, int nesting)
{
    if (take(s, close))
        return true;
    do {
        if (has_keys && !(scan_string(s) && take(s, ':')))
            return false;
        if (!scan_value(s, nesting))
            return false;
    } while (take(s, ','));
    return take(s, close);
}

static bool scan_value(scanner *s, int nesting)
{
    skip_blanks(s);
    if (s->at == s->end || nesting == MAX_NESTING)
        return false;
    if (*s->at == '"')
        return scan_string(s);
    if (take(s, '{'))
        return scan_list(s, '}', true, nesting + 1);
    if (take(s, '['))
        return scan_list(s, ']', false, nesting + 1);
    return scan_word(s) || scan_number(s);
}

bool sp_json_is_object(const char *bytes, size_t length)
{
    scanner s = {.at = bytes, .end = bytes + length};
    if (!take(&s, '{') || !scan_list(&s, '}', true, 1))
        return false;
    skip_blanks(&s);
    return s.at == s.end;
}

/* One key and its value as they are written, quotes included. */
typedef struct member {
    sp_json_span key, value;
} member;

typedef SP_VECTOR(member) members;

static uint32_t code_unit(const char *digits)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)hex_digit(digits[i]);
    return unit;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00 >> length & 0xff) | c);
    return length;
}

/* One character of a key, escaped or not, as bytes; moves `*at` behind it. */
static size_t next_character(const char **at, const char *end, char out[4])
{
    static const char names[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    if (**at != '\\') {
        out[0] = *(*at)++;
        return 1;
    }
    char name = (*at)[1];
    *at += 2;
    if (name != 'u') {
        const char *known = strchr(names, name);
        out[0] = known != NULL ? meanings[known - names] : name;
        return 1;
    }
    uint32_t c = code_unit(*at);
    *at += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = code_unit(*at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            *at += 6;
        }
    }
    return put_utf8(out, c);
}

/* Whether two quoted keys mean the same text, however each is escaped. */
static bool same_key(const sp_json_span *a, const sp_json_span *b)
{
    if (a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0)
        return true;
    const char *at[2] = {a->bytes + 1, b->bytes + 1};
    const char *end[2] = {a->bytes + a->length - 1, b->bytes + b->length - 1};
    char bytes[2][4];
    size_t length[2] = {0, 0}, used[2] = {0, 0};
    for (;;) {
        for (int i = 0; i < 2; i++) {
            if (used[i] == length[i]) {
                used[i] = 0;
                length[i] = at[i] < end[i] ? next_character(&at[i], end[i], bytes[i]) : 0;
            }
        }
        if (length[0] == 0 || length[1] == 0)
            return length[0] == length[1];
        if (bytes[0][used[0]++] != bytes[1][used[1]++])
            return false;
    }
}

static bool put_member(members *all, const member *one)
{
    for (size_t i = 0; i < all->count; i++) {
        if (same_key(&all->items[i].key, &one->key)) {
            all->items[i].value = one->value;
            return true;
        }
    }
    if (!sp_vector_reserve(all, 1))
        return false;
    all->items[all->count++] = *one;
    return true;
}

static bool put_object(members *all, const sp_json_span *object)
{
    scanner s = {.at = object->bytes, .end = object->bytes + object->length};
    if (!take(&s, '{') || take(&s, '}'))
        return true;
    do {
        skip_blanks(&s);
        const char *key = s.at;
        scan_string(&s);
        member one = {.key = {key, (size_t)(s.at - key)}};
        take(&s, ':');
        skip_blanks(&s);
        const char *value = s.at;
        scan_value(&s, 1);
        one.value = (sp_json_span){value, (size_t)(s.at - value)};
        if (!put_member(all, &one))
            return false;
    } while (take(&s, ','));
    return true;
}

void sp_json_merge(sp_text *out, const sp_json_span *objects, size_t count)
{
    members all = {0};
    bool is_complete = true;
    for (size_t i = 0; i < count && is_complete; i++)
        is_complete = put_object(&all, &objects[i]);
    sp_text_add(out, "{");
    for (size_t i = 0; i < all.count; i++) {
        if (i > 0)
            sp_text_add(out, ", ");
        sp_text_add_n(out, all.items[i].key.bytes, all.items[i].key.length);
        sp_text_add(out, ": ");
        sp_text_add_n(out, all.items[i].value.bytes, all.items[i].value.length);
    }
    sp_text_add(out, "}");
    out->failed = out->failed || !is_complete;
    sp_vector_release(&all);
}
