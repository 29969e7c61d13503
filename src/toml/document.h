/* document.h - a TOML document as plain C, which the module scope_profiler_toml.so makes. The module is
 * C++ over a parser that is; nothing else in the tree knows of either.
 */
#ifndef SP_TOML_DOCUMENT_H
#define SP_TOML_DOCUMENT_H

#include "scope_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sp_toml_kind {
    SP_TOML_TABLE,
    SP_TOML_ARRAY,
    SP_TOML_TEXT,
    SP_TOML_INTEGER,
    SP_TOML_FLAG,
    SP_TOML_OTHER /* numbers with a fraction, dates, times */
} sp_toml_kind;

/* One value. Texts are UTF-8 and end with a NUL; one that holds a NUL is longer than it looks. */
typedef struct sp_toml_node {
    sp_toml_kind kind;
    const char *key; /* its name in a table; "" elsewhere */
    uint32_t line;   /* where it begins, from 1 */
    bool flag;
    int64_t integer;
    const char *text;
    size_t length;     /* of the text */
    const char *shown; /* the value as Python shows it; of tables and arrays only what they are */
    const struct sp_toml_node *items; /* of a table in order of their keys, of an array */
    size_t num_items;
} sp_toml_node;

typedef struct sp_toml_document sp_toml_document;

/* What the module offers. Functions may be called from any thread. */
typedef struct sp_toml_table {
    size_t size;
    unsigned version; /* SP_TOML_VERSION */
    /* The parser, for people: "toml++ 3.3.0". */
    const char *parser;
    /* Parses a document; its root is a table. SP_ERR_INVALID_ARGUMENT with what is wrong, the line and
     * the column; SP_ERR_NO_MEMORY. */
    int (*parse)(const char *text, size_t length, sp_toml_document **out, sp_error *error);
    const sp_toml_node *(*root)(const sp_toml_document *document);
    void (*release)(sp_toml_document *document);
} sp_toml_table;

enum { SP_TOML_VERSION = 1 };

/* The symbol that the module exports. */
#define SP_TOML_SYMBOL "scope_profiler_toml"
typedef const sp_toml_table *(*sp_toml_entry)(void);

#ifdef __cplusplus
}
#endif
#endif
