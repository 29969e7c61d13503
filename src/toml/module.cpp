// The module scope_profiler_toml.so: toml++ behind the C interface of document.h. No exception leaves it.
#include "toml/document.h"

#include <stdexcept>

// The parser's own checks find some mistakes in documents (a table named by no key) that it does not
// report. They must refuse the document: by default they would end the process, or with NDEBUG let the
// compiler assume that they hold.
[[noreturn]] static void sp_refuse_document();
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : sp_refuse_document())
#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

static void sp_refuse_document()
{
    throw std::logic_error("not a TOML document");
}

struct sp_toml_document {
    std::deque<std::string> texts; // elements never move
    std::deque<std::vector<sp_toml_node>> lists;
    sp_toml_node root = {};
};

namespace {

const char *keep(sp_toml_document &document, std::string text)
{
    return document.texts.emplace_back(std::move(text)).c_str();
}

// A text as Python shows it, for the common case: quotes are chosen so that none has to be escaped.
std::string quoted(const std::string &text)
{
    const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos
                           ? '"'
                           : '\'';
    std::string shown(1, quote);
    for (const char c : text) {
        if (c == quote || c == '\\')
            shown += '\\';
        if (c == '\n')
            shown += "\\n";
        else if (static_cast<unsigned char>(c) < ' ')
            shown += '?';
        else
            shown += c;
    }
    return shown + quote;
}

template <typename Value>
std::string printed(const Value &value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

sp_toml_node convert(sp_toml_document &document, const toml::node &from, std::string_view key);

void convert_items(sp_toml_document &document, sp_toml_node &node, std::vector<sp_toml_node> items)
{
    const std::vector<sp_toml_node> &kept = document.lists.emplace_back(std::move(items));
    node.items = kept.data();
    node.num_items = kept.size();
}

void convert_table(sp_toml_document &document, const toml::table &from, sp_toml_node &node)
{
    std::vector<sp_toml_node> items;
    for (auto &&[key, value] : from)
        items.push_back(convert(document, value, key.str()));
    node.kind = SP_TOML_TABLE;
    node.shown = "a table";
    convert_items(document, node, std::move(items));
}

void convert_array(sp_toml_document &document, const toml::array &from, sp_toml_node &node)
{
    std::vector<sp_toml_node> items;
    for (auto &&value : from)
        items.push_back(convert(document, value, {}));
    node.kind = SP_TOML_ARRAY;
    node.shown = "a list";
    convert_items(document, node, std::move(items));
}

void convert_value(sp_toml_document &document, const toml::node &from, sp_toml_node &node)
{
    if (const auto *text = from.as_string()) {
        node.kind = SP_TOML_TEXT;
        node.text = keep(document, text->get());
        node.length = text->get().size();
        node.shown = keep(document, quoted(text->get()));
    } else if (const auto *integer = from.as_integer()) {
        node.kind = SP_TOML_INTEGER;
        node.integer = integer->get();
        node.shown = keep(document, std::to_string(integer->get()));
    } else if (const auto *flag = from.as_boolean()) {
        node.kind = SP_TOML_FLAG;
        node.flag = flag->get();
        node.shown = flag->get() ? "True" : "False";
    } else if (const auto *real = from.as_floating_point()) {
        node.shown = keep(document, printed(*real));
    } else if (const auto *date = from.as_date()) {
        node.shown = keep(document, printed(*date));
    } else if (const auto *time = from.as_time()) {
        node.shown = keep(document, printed(*time));
    } else if (const auto *moment = from.as_date_time()) {
        node.shown = keep(document, printed(*moment));
    }
}

sp_toml_node convert(sp_toml_document &document, const toml::node &from, std::string_view key)
{
    sp_toml_node node = {};
    std::string name(key);
    std::replace(name.begin(), name.end(), '\0', '?'); // no name of ours has one
    node.kind = SP_TOML_OTHER;
    node.key = keep(document, std::move(name));
    node.text = node.shown = "";
    node.line = from.source().begin.line;
    if (const auto *table = from.as_table())
        convert_table(document, *table, node);
    else if (const auto *array = from.as_array())
        convert_array(document, *array, node);
    else
        convert_value(document, from, node);
    return node;
}

template <typename... Arguments>
int fail(sp_error *error, int status, const char *format, Arguments... arguments)
{
    if (error != nullptr) {
        *error = sp_error{};
        error->status = status;
        std::snprintf(error->text, sizeof error->text, format, arguments...);
    }
    return status;
}

int parse(const char *text, size_t length, sp_toml_document **out, sp_error *error)
{
    sp_toml_document *document = nullptr;
    try {
        document = new sp_toml_document;
        const toml::table root = toml::parse(std::string_view(text, length));
        document->root = convert(*document, root, {});
        *out = document;
        return SP_OK;
    } catch (const toml::parse_error &trouble) {
        const std::string what(trouble.description());
        delete document;
        return fail(error, SP_ERR_INVALID_ARGUMENT, "%s (at line %u, column %u)", what.c_str(),
                    static_cast<unsigned>(trouble.source().begin.line),
                    static_cast<unsigned>(trouble.source().begin.column));
    } catch (const std::logic_error &trouble) {
        delete document;
        return fail(error, SP_ERR_INVALID_ARGUMENT, "%s", trouble.what());
    } catch (const std::exception &trouble) { // memory
        delete document;
        return fail(error, SP_ERR_NO_MEMORY, "reading TOML: %s", trouble.what());
    }
}

const sp_toml_node *root(const sp_toml_document *document)
{
    return &document->root;
}

void release(sp_toml_document *document)
{
    delete document;
}

#define SP_TOML_QUOTE_(number) #number
#define SP_TOML_QUOTE(number) SP_TOML_QUOTE_(number)
#define SP_TOML_PARSER                                                                             \
    "toml++ " SP_TOML_QUOTE(TOML_LIB_MAJOR) "." SP_TOML_QUOTE(TOML_LIB_MINOR) "." SP_TOML_QUOTE(   \
        TOML_LIB_PATCH)

const sp_toml_table table = {sizeof table, SP_TOML_VERSION, SP_TOML_PARSER, parse, root, release};

} // namespace

extern "C" __attribute__((visibility("default"))) const sp_toml_table *scope_profiler_toml()
{
    return &table;
}
