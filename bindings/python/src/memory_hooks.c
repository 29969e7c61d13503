#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "memory_hooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- sizes by address ----------------------------------------------------------------------- */

/* Open addressing with linear probes; at most three quarters full. */
typedef struct size_entry {
    uintptr_t address; /* 0: free */
    size_t size;
} size_entry;

typedef struct size_table {
    pthread_mutex_t lock;
    size_entry *entries;
    size_t capacity, count;
} size_table;

enum { TABLES = 64, FIRST_CAPACITY = 256 };

static size_table tables[TABLES];

static uint64_t hash_of(uintptr_t address)
{
    return ((uint64_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15);
}

static size_table *table_of(uintptr_t address)
{
    return &tables[hash_of(address) >> 58];
}

static size_t place_of(const size_table *table, uintptr_t address)
{
    return (size_t)(hash_of(address) >> 20) & (table->capacity - 1);
}

/* Where the address is, or would go. */
static size_entry *find(const size_table *table, uintptr_t address)
{
    size_t i = place_of(table, address);
    while (table->entries[i].address != 0 && table->entries[i].address != address)
        i = (i + 1) & (table->capacity - 1);
    return &table->entries[i];
}

static bool grow(size_table *table)
{
    size_table larger = {.capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].address != 0)
            *find(&larger, table->entries[i].address) = table->entries[i];
    free(table->entries);
    table->entries = larger.entries;
    table->capacity = larger.capacity;
    return true;
}

/* Without memory for it the block will be freed with unknown size. */
static void remember(const void *block, size_t size)
{
    uintptr_t address = (uintptr_t)block;
    size_table *table = table_of(address);
    pthread_mutex_lock(&table->lock);
    if (table->count * 4 < table->capacity * 3 || grow(table)) {
        size_entry *entry = find(table, address);
        table->count += entry->address == 0;
        *entry = (size_entry){address, size};
    }
    pthread_mutex_unlock(&table->lock);
}

/* Entries behind the one taken out move up, so that no probe ends early. */
static void close_gap(size_table *table, size_t gap)
{
    size_t mask = table->capacity - 1;
    for (size_t i = (gap + 1) & mask; table->entries[i].address != 0; i = (i + 1) & mask) {
        size_t wanted = place_of(table, table->entries[i].address);
        if (((i - wanted) & mask) >= ((i - gap) & mask)) {
            table->entries[gap] = table->entries[i];
            gap = i;
        }
    }
    table->entries[gap].address = 0;
}

static bool forget(const void *block, size_t *out_size)
{
    uintptr_t address = (uintptr_t)block;
    size_table *table = table_of(address);
    bool is_known = false;
    pthread_mutex_lock(&table->lock);
    if (table->count > 0) {
        size_entry *entry = find(table, address);
        is_known = entry->address != 0;
        if (is_known) {
            *out_size = entry->size;
            table->count--;
            close_gap(table, (size_t)(entry - table->entries));
        }
    }
    pthread_mutex_unlock(&table->lock);
    return is_known;
}

static void forget_all(void)
{
    for (size_t i = 0; i < TABLES; i++) {
        pthread_mutex_lock(&tables[i].lock);
        free(tables[i].entries);
        tables[i].entries = NULL;
        tables[i].capacity = tables[i].count = 0;
        pthread_mutex_unlock(&tables[i].lock);
    }
}

/* The child of a fork has one thread, which may have found a table locked by another one. */
static void reset_locks(void)
{
    for (size_t i = 0; i < TABLES; i++)
        pthread_mutex_init(&tables[i].lock, NULL);
}

static void lock_all(void)
{
    for (size_t i = 0; i < TABLES; i++)
        pthread_mutex_lock(&tables[i].lock);
}

static void unlock_all(void)
{
    for (size_t i = 0; i < TABLES; i++)
        pthread_mutex_unlock(&tables[i].lock);
}

/* ---- counting ------------------------------------------------------------------------------- */

static _Thread_local memory_counts counts __attribute__((tls_model("initial-exec")));
static atomic_bool is_counting;

memory_counts *memory_counts_here(void)
{
    return &counts;
}

static void count_allocation(const void *block, size_t size)
{
    remember(block, size);
    counts.allocations++;
    counts.allocated_bytes += (int64_t)size;
    int64_t current = counts.allocated_bytes - counts.freed_bytes;
    if (current > counts.peak)
        counts.peak = current;
}

static void count_free(bool is_known, size_t size)
{
    counts.frees++;
    if (is_known)
        counts.freed_bytes += (int64_t)size;
}

static bool counts_here(void)
{
    return atomic_load_explicit(&is_counting, memory_order_relaxed) && !counts.is_inside;
}

/* ---- hooks ---------------------------------------------------------------------------------- */

/* Who was there before, by domain. The context of a hook is its entry, which stays as it is when the hook
 * is gone: a thread without the GIL may still be inside. */
static PyMemAllocatorEx previous[3];
static bool is_hooked[3];
static const PyMemAllocatorDomain domains[3] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                                PYMEM_DOMAIN_OBJ};

static void *hooked_malloc(void *context, size_t size)
{
    const PyMemAllocatorEx *next = context;
    if (!counts_here())
        return next->malloc(next->ctx, size);
    counts.is_inside = true;
    void *block = next->malloc(next->ctx, size);
    if (block != NULL)
        count_allocation(block, size);
    counts.is_inside = false;
    return block;
}

static void *hooked_calloc(void *context, size_t number, size_t size)
{
    const PyMemAllocatorEx *next = context;
    if (!counts_here())
        return next->calloc(next->ctx, number, size);
    counts.is_inside = true;
    void *block = next->calloc(next->ctx, number, size);
    if (block != NULL)
        count_allocation(block, number * size);
    counts.is_inside = false;
    return block;
}

/* Counts as freeing the old block and allocating the new one. The old address is forgotten first: as
 * soon as it is free another thread may get it. */
static void *hooked_realloc(void *context, void *old, size_t size)
{
    const PyMemAllocatorEx *next = context;
    if (!counts_here())
        return next->realloc(next->ctx, old, size);
    counts.is_inside = true;
    size_t old_size = 0;
    bool is_known = old != NULL && forget(old, &old_size);
    void *block = next->realloc(next->ctx, old, size);
    if (block == NULL && is_known)
        remember(old, old_size);
    if (block != NULL && old != NULL)
        count_free(is_known, old_size);
    if (block != NULL)
        count_allocation(block, size);
    counts.is_inside = false;
    return block;
}

static void hooked_free(void *context, void *block)
{
    const PyMemAllocatorEx *next = context;
    if (block == NULL || !counts_here()) {
        next->free(next->ctx, block);
        return;
    }
    counts.is_inside = true;
    size_t size = 0;
    bool is_known = forget(block, &size);
    count_free(is_known, size);
    next->free(next->ctx, block);
    counts.is_inside = false;
}

static bool is_ours(PyMemAllocatorDomain domain)
{
    PyMemAllocatorEx now;
    PyMem_GetAllocator(domain, &now);
    return now.malloc == hooked_malloc;
}

/* A hook of ours may still stand under one that came later: then it counts again as it is. */
static void install(void)
{
    static bool has_handlers;
    if (!has_handlers) {
        reset_locks();
        pthread_atfork(lock_all, unlock_all, reset_locks);
        has_handlers = true;
    }
    for (size_t i = 0; i < 3; i++) {
        if (is_hooked[i])
            continue;
        PyMem_GetAllocator(domains[i], &previous[i]);
        PyMemAllocatorEx ours = {.ctx = &previous[i], .malloc = hooked_malloc,
                                 .calloc = hooked_calloc, .realloc = hooked_realloc,
                                 .free = hooked_free};
        PyMem_SetAllocator(domains[i], &ours);
        is_hooked[i] = true;
    }
}

static atomic_int uses;

void memory_hooks_use(void)
{
    if (atomic_fetch_add(&uses, 1) == 0) {
        install();
        forget_all();
        atomic_store(&is_counting, true);
    }
}

void memory_hooks_unuse(void)
{
    if (atomic_fetch_sub(&uses, 1) == 1)
        atomic_store(&is_counting, false);
}

void memory_hooks_tidy(void)
{
    for (size_t i = 0; atomic_load(&uses) == 0 && i < 3; i++) {
        if (!is_hooked[i] || !is_ours(domains[i]))
            continue;
        PyMemAllocatorEx before = previous[i];
        PyMem_SetAllocator(domains[i], &before);
        is_hooked[i] = false;
    }
}
