/* A run that the recorder hands over in memory, read through the results. */
#include "results/run.h"
#include "store/image/image.h"

static const sp_row rows[] = {
    {.region = "solve", .rank = 1, .count = 2, .source_file = "solver.py", .source_text = "",
     .source_line = 7, .tags_json = "[\"golden\"]", .exclusive_total = 15},
    {.region = "step", .rank = 1, .count = 1, .source_file = "", .source_text = "",
     .source_line = -1, .tags_json = "[]", .exclusive_total = 3},
};
enum { RANK = 1 };

/* solve [10,20] and [30,40], step [12,15] inside the first; ids 0 and 2, 1. */
static void *make_image(size_t *size)
{
    void *image = NULL;
    sp_store_writer *writer = NULL;
    const int64_t start[] = {10, 30, 12}, duration[] = {10, 10, 3}, id[] = {0, 2, 1},
                  parent[] = {-1, -1, 0};
    const int64_t *columns[SP_COLUMN_COUNT] = {start, duration, id, parent};
    const sp_metadata_entry label = {.key = "label", .kind = SP_VALUE_TEXT, .text = "demo"};
    const int64_t lost[] = {4};
    const sp_extra extra = {.name = "lost_calls", .rank = RANK, .length = 1, .integers = lost};
    if (!CHECK_INT(sp_image_create(NULL, &image, size, &writer, NULL), SP_OK))
        return NULL;
    CHECK_INT(sp_image_writer.write_metadata(writer, &label, 1, NULL), SP_OK);
    CHECK_INT(sp_image_writer.begin_rank(writer, RANK, rows, 2, 15, NULL, 0, NULL, 0, NULL), SP_OK);
    CHECK_INT(sp_image_writer.write_calls(writer, 3, columns, NULL), SP_OK);
    CHECK_INT(sp_image_writer.write_extra(writer, &extra, NULL), SP_OK);
    CHECK_INT(sp_image_writer.commit(writer, NULL), SP_OK);
    return image;
}

static void reads_an_image(void)
{
    size_t size = 0, count = 0;
    void *image = make_image(&size);
    sp_results *run = NULL;
    const int64_t *values = NULL;
    sp_statistics s = {0};
    sp_call_tree tree = {0};
    if (!CHECK_INT(sp_results_open_image(image, size, &run, NULL), SP_OK))
        return;
    CHECK_INT(sp_results_num_rows(run), 2);
    CHECK_INT(sp_results_num_calls(run), 3);
    CHECK_INT(sp_results_num_ranks(run), 2);
    CHECK_TEXT(sp_results_row(run, 0)->source_file, "solver.py");
    CHECK_TEXT(sp_results_find_metadata(run, "label")->text, "demo");
    CHECK_INT(sp_results_num_extras(run), 1);
    CHECK_TEXT(sp_results_extra(run, 0)->name, "lost_calls");
    CHECK_INT(sp_results_extra(run, 0)->integers[0], 4);
    CHECK_INT(sp_results_column(run, 0, SP_COLUMN_START, &values, &count, NULL), SP_OK);
    CHECK_INT(count, 2);
    CHECK_INT(values[1], 30);
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_INT(s.total, 20);
    CHECK_INT(s.exclusive, 15);
    CHECK_INT(sp_results_call_tree(run, RANK, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 3);
    CHECK_INT(tree.row[1], 1);
    CHECK_INT(tree.parent[1], 0);
    CHECK_INT(tree.exclusive_ns[0], 7);
    sp_results_close(run);
}

/* A column that was handed out stays where it is while other questions are answered. */
static void columns_outlive_other_questions(void)
{
    size_t size = 0, count = 0;
    void *image = make_image(&size);
    sp_results *run = NULL;
    const int64_t *values = NULL, *exclusive = NULL;
    if (!CHECK_INT(sp_results_open_image(image, size, &run, NULL), SP_OK))
        return;
    CHECK_INT(sp_results_column(run, 1, SP_COLUMN_DURATION, &values, &count, NULL), SP_OK);
    CHECK_INT(sp_results_exclusive(run, 0, &exclusive, &count, NULL), SP_OK);
    CHECK_INT(count, 2);
    CHECK_INT(exclusive[0], 7);
    CHECK_INT(exclusive[1], 10);
    CHECK_INT(values[0], 3);
    sp_results_close(run);
}

int main(void)
{
    RUN(reads_an_image);
    RUN(columns_outlive_other_questions);
    return check_result();
}
