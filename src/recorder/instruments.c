#include "recorder/instruments.h"

#include "base/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name)
{
    if (name == NULL || *name == '\0')
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

static int check(const sp_instrument *table, sp_error *error)
{
    if (table->version != SP_INSTRUMENT_VERSION || !is_name(table->name))
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "an instrument '%s' of version %u: this recorder takes version %u, with a name "
                       "of letters, digits and underscores",
                       table->name == NULL ? "" : table->name, table->version,
                       SP_INSTRUMENT_VERSION);
    bool has_values = table->num_values > 0;
    bool fits = table->num_values <= SP_INSTRUMENT_VALUES && table->num_groups <= table->num_values;
    for (uint32_t i = 0; fits && table->num_groups > 0 && i < table->num_values; i++)
        fits = table->group_of == NULL || table->group_of[i] < table->num_groups;
    if (!fits || has_values != (table->read != NULL) || (has_values && table->value_names == NULL))
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "instrument '%s': %u values in %u groups; at most %d, with a name each and a "
                       "function that reads them",
                       table->name, table->num_values, table->num_groups, SP_INSTRUMENT_VALUES);
    return SP_OK;
}

static void release_tables(const sp_instrument *const *tables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tables[i]->release != NULL)
            tables[i]->release(tables[i]->context);
}

/* Entries that a table is too old to have are NULL. */
static void copy(sp_instrument *to, const sp_instrument *from)
{
    memset(to, 0, sizeof *to);
    memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
}

static size_t words_of(size_t bytes)
{
    return 1 + (bytes + 7) / 8;
}

static int fill(sp_instruments *set, const sp_instrument *const *tables, size_t count,
                sp_error *error)
{
    size_t num_devices = 0;
    for (size_t i = 0; i < count; i++) {
        sp_instrument *item = &set->items[i];
        copy(item, tables[i]);
        int status = check(item, error);
        if (status != SP_OK)
            return status;
        size_t width = sp_instrument_width(item);
        set->num_values += width;
        set->side_words += width > 0 ? words_of(sp_counters_bound(width)) : 0;
        set->side_words += item->end != NULL
                               ? words_of(sp_counters_bound(0) + SP_INSTRUMENT_PAYLOAD)
                               : 0;
        set->has_finish = set->has_finish || item->finish != NULL;
        num_devices += item->payload_kind == SP_PAYLOAD_DEVICE_TIMES;
        set->count++;
    }
    if (num_devices > 1)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "%zu instruments with device times; one recording has one", num_devices);
    return SP_OK;
}

int sp_instruments_create(const sp_instrument *const *tables, size_t count,
                          void (*say)(const char *text), sp_instruments **out, sp_error *error)
{
    sp_instruments *set = calloc(1, sizeof *set);
    int status = SP_OK;
    if (count > SP_INSTRUMENTS)
        status = sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%zu instruments; at most %d", count,
                         SP_INSTRUMENTS);
    else if (set == NULL)
        status = sp_fail_memory(error, "preparing the instruments");
    else
        status = fill(set, tables, count, error);
    if (status != SP_OK) {
        free(set);
        release_tables(tables, count);
        return status;
    }
    set->say = say;
    atomic_init(&set->holders, 1);
    *out = set;
    return SP_OK;
}

sp_instruments *sp_instruments_hold(sp_instruments *instruments)
{
    atomic_fetch_add(&instruments->holders, 1);
    return instruments;
}

void sp_instruments_let_go(sp_instruments *instruments)
{
    if (instruments == NULL || atomic_fetch_sub(&instruments->holders, 1) != 1)
        return;
    for (size_t i = 0; i < instruments->count; i++)
        if (instruments->items[i].release != NULL)
            instruments->items[i].release(instruments->items[i].context);
    free(instruments);
}
