/* A stranger's program: opens the file of record.c and finds its calls again. */
#include <scope_results.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    sp_error error;
    sp_results *results = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: inspect FILE\n");
        return 2;
    }
    if (sp_results_open(argv[1], &results, &error) != SP_OK) {
        fprintf(stderr, "inspect: %s\n", error.text);
        return 1;
    }
    sp_call_tree tree;
    const int status = sp_results_call_tree(results, 0, &tree, &error);
    if (status != SP_OK)
        fprintf(stderr, "inspect: %s\n", error.text);
    else
        printf("%zu calls, deepest of the last %d\n", tree.count, (int)tree.depth[tree.count - 1]);
    const int as_expected = status == SP_OK && tree.count == 3 && tree.depth[2] == 1;
    sp_results_close(results);
    return as_expected ? 0 : 1;
}
