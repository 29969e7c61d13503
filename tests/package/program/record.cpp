// A stranger's program: as record.c, by blocks.
#include <scope_profiler.hpp>

#include <iostream>

static void inner()
{
    SP_PROFILE_FUNCTION();
}

int main(int argc, char **argv)
{
    if (argc != 2 || sp_init(argv[1], 0) != SP_OK) {
        std::cerr << "usage: record PREFIX\n";
        return 2;
    }
    {
        SP_PROFILE_SCOPE("outer");
        inner();
        inner();
    }
    const int status = sp_finalize();
    if (status != SP_OK)
        std::cerr << "record: " << sp_last_error() << "\n";
    return status == SP_OK ? 0 : 1;
}
