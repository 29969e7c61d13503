/* protocol.h - what passes between a program and an NVTX tool, version 3 of it.
 *
 * A tool is a library named in an environment variable. It exports one function, which is given a way to
 * ask for tables; through one of them it gets at slots for functions, by module and number, and puts its
 * own there. Only what is used here has a name. */
#ifndef SP_BACKENDS_NVTX_PROTOCOL_H
#define SP_BACKENDS_NVTX_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define NVTX_TOOL_VARIABLE "NVTX_INJECTION64_PATH"
#define NVTX_TOOL_ENTRY    "InitializeInjectionNvtx2"
enum { NVTX_VERSION = 3 };

typedef void (*nvtx_function)(void);

/* Tables that a tool may ask for. */
enum { NVTX_TABLE_CALLBACKS = 1, NVTX_TABLE_VERSION = 3 };

typedef struct nvtx_callbacks {
    size_t size;
    /* Slots of a module, slot 0 unused. 0: there is no such module. */
    int (*module_slots)(int module, nvtx_function ***out_slots, unsigned *out_count);
} nvtx_callbacks;

typedef struct nvtx_version {
    size_t size;
    uint32_t version, reserved;
    void (*set_tool_version)(uint32_t version);
} nvtx_version;

typedef const void *(*nvtx_export_table)(uint32_t id);
/* Not 0: the tool is there. */
typedef int (*nvtx_tool_entry)(nvtx_export_table tables);

/* Modules, and the slots of the second, in which everything is within a domain. */
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_DOMAINS = 5 };
enum { NVTX_CORE_SLOTS = 16 };
enum {
    NVTX_RANGE_START = 2,
    NVTX_RANGE_END = 3,
    NVTX_REGISTER_STRING = 10,
    NVTX_DOMAIN_CREATE = 12,
    NVTX_INITIALIZE = 15,
    NVTX_DOMAIN_SLOTS = 16
};

typedef struct nvtx_domain nvtx_domain;
typedef struct nvtx_string nvtx_string;

enum { NVTX_COLOUR_ARGB = 1 };
enum { NVTX_PAYLOAD_UNSIGNED = 1 };
enum { NVTX_MESSAGE_TEXT = 1, NVTX_MESSAGE_REGISTERED = 3 };

/* What a range looks like. */
typedef struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t colour_kind;
    uint32_t colour;
    int32_t payload_kind, reserved;
    union {
        uint64_t number;
        double real;
    } payload;
    int32_t message_kind;
    union {
        const char *text;
        const nvtx_string *string;
    } message;
} nvtx_attributes;

typedef uint64_t (*nvtx_range_start)(nvtx_domain *domain, const nvtx_attributes *attributes);
typedef void (*nvtx_range_end)(nvtx_domain *domain, uint64_t range);
typedef nvtx_string *(*nvtx_register_string)(nvtx_domain *domain, const char *text);
typedef nvtx_domain *(*nvtx_domain_create)(const char *name);
typedef void (*nvtx_initialize)(const void *reserved);

#endif
