/* Linked into a shared library to see whether the archive of zlib can be. */
#include <zlib.h>

int main(void)
{
    z_stream stream = {0};
    return deflateInit(&stream, 1) + inflateInit(&stream);
}
