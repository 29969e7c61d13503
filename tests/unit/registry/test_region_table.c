#include "check.h"

#include "registry/cell.h"
#include "registry/opt_in_tags.h"
#include "registry/region_table.h"

static void states(void)
{
    sp_region_table table;
    if (!CHECK(sp_region_table_init(&table)))
        return;
    CHECK_INT(sp_region_table_state(&table, 0), SP_REGION_UNKNOWN);
    CHECK_INT(sp_region_table_state(&table, SP_REGION_LIMIT - 1), SP_REGION_UNKNOWN);
    CHECK_INT(sp_region_table_state(&table, SP_REGION_LIMIT), SP_REGION_UNKNOWN);
    CHECK_INT(sp_region_table_state(&table, UINT32_MAX), SP_REGION_UNKNOWN);
    CHECK(sp_region_table_set(&table, 7, SP_REGION_RECORD));
    CHECK(sp_region_table_set(&table, SP_REGION_LIMIT - 1, SP_REGION_DISABLED));
    CHECK(!sp_region_table_set(&table, SP_REGION_LIMIT, SP_REGION_RECORD));
    CHECK(!sp_region_table_set(&table, -1, SP_REGION_RECORD));
    CHECK_INT(sp_region_table_state(&table, 7), SP_REGION_RECORD);
    CHECK_INT(table.count, 2);
    CHECK_INT(table.entries[0].region, 7);
    CHECK(sp_region_table_find(&table, 8) == NULL);
    sp_region_table_clear(&table);
    CHECK_INT(sp_region_table_state(&table, 7), SP_REGION_UNKNOWN);
    CHECK(sp_region_table_find(&table, 7) == NULL);
    sp_region_table_release(&table);
}

static void first_site_wins(void)
{
    sp_region_table table;
    sp_region_table_init(&table);
    sp_region_table_set(&table, 3, SP_REGION_RECORD);
    sp_region_entry *entry = sp_region_table_find(&table, 3);
    CHECK(sp_region_table_source(&table, entry, "a.c", 10, "x = 1"));
    CHECK(sp_region_table_source(&table, entry, "b.c", 20, NULL));
    CHECK_TEXT(entry->source_file, "a.c");
    CHECK_INT(entry->source_line, 10);
    CHECK_TEXT(entry->source_text, "x = 1");
    CHECK(sp_region_table_tags(&table, entry, "[\"io\"]"));
    CHECK_TEXT(entry->tags_json, "[\"io\"]");
    sp_region_table_release(&table);
}

static void unknown_table_is_shared(void)
{
    const _Atomic uint8_t *states = sp_region_states_unknown();
    if (!CHECK(states != NULL))
        return;
    CHECK(states == sp_region_states_unknown());
    CHECK_INT(states[SP_REGION_LIMIT - 1], SP_REGION_UNKNOWN);
}

static void cell_forgets_other_generations(void)
{
    sp_cell cell = {0};
    CHECK_INT(sp_cell_get(&cell, 1), SP_INVALID_REGION);
    sp_cell_set(&cell, 1, SP_INVALID_REGION);
    CHECK_INT(sp_cell_get(&cell, 1), SP_INVALID_REGION);
    sp_cell_set(&cell, 1, 0);
    CHECK_INT(sp_cell_get(&cell, 1), 0);
    CHECK_INT(sp_cell_get(&cell, 2), SP_INVALID_REGION);
    sp_cell_set(&cell, 2, SP_REGION_LIMIT - 1);
    CHECK_INT(sp_cell_get(&cell, 2), SP_REGION_LIMIT - 1);
}

static void opt_in_tags(void)
{
    CHECK(!sp_opt_in_tag_has("lib"));
    CHECK_INT(sp_opt_in_tag_add("lib", NULL), SP_OK);
    CHECK_INT(sp_opt_in_tag_add("lib", NULL), SP_OK);
    CHECK(sp_opt_in_tag_has("lib"));
    CHECK_INT(sp_opt_in_tag_count(), 1);
    CHECK_INT(sp_opt_in_tag_add("", NULL), SP_ERR_INVALID_ARGUMENT);
}

int main(void)
{
    RUN(states);
    RUN(first_site_wins);
    RUN(unknown_table_is_shared);
    RUN(cell_forgets_other_generations);
    RUN(opt_in_tags);
    return check_result();
}
