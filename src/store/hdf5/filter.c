#include "store/hdf5/filter.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const sp_hdf5_codec *const CODECS[] = {&sp_hdf5_codec_gzip, &sp_hdf5_codec_lzf,
                                              &sp_hdf5_codec_zstd};
enum { CODEC_COUNT = sizeof CODECS / sizeof *CODECS };

int sp_hdf5_filter_parse(const char *name, int level, sp_hdf5_filter *out, sp_error *error)
{
    const sp_hdf5_codec *codec = NULL;
    for (size_t i = 0; i < CODEC_COUNT; i++)
        if (strcmp(CODECS[i]->name, name) == 0)
            codec = CODECS[i];
    if (codec == NULL)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "HDF5 compression '%s' is not one of auto, gzip, lzf, zstd", name);
    if (codec->missing != NULL)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "HDF5 compression '%s' is not available: the HDF5 module was built without "
                       "%s",
                       name, codec->missing);
    if (level < 0)
        level = codec->default_level;
    else if (codec->highest_level == codec->lowest_level)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "HDF5 compression '%s' has no levels", name);
    if (level < codec->lowest_level || level > codec->highest_level)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "level %d of HDF5 compression '%s' is outside %d to %d", level, name,
                       codec->lowest_level, codec->highest_level);
    *out = (sp_hdf5_filter){codec, level};
    return SP_OK;
}

const sp_hdf5_codec *sp_hdf5_codec_of(H5Z_filter_t id)
{
    for (size_t i = 0; i < CODEC_COUNT; i++)
        if (CODECS[i]->id == id && CODECS[i]->missing == NULL)
            return CODECS[i];
    return NULL;
}

void sp_hdf5_filters_register(void)
{
    for (size_t i = 0; i < CODEC_COUNT; i++)
        if (CODECS[i]->filter != NULL && H5Zfilter_avail(CODECS[i]->id) <= 0)
            H5Zregister(CODECS[i]->filter);
}

herr_t sp_hdf5_filter_apply(const sp_hdf5_filter *filter, hid_t properties, size_t chunk_bytes)
{
    if (filter->codec == NULL)
        return 0;
    unsigned values[SP_HDF5_MAX_PARAMETERS];
    size_t count = filter->codec->parameters(filter->level, chunk_bytes, values);
    herr_t failed = H5Pset_shuffle(properties);
    if (failed < 0)
        return failed;
    return H5Pset_filter(properties, filter->codec->id, H5Z_FLAG_OPTIONAL, count, values);
}

bool sp_hdf5_packer_can(const sp_hdf5_filter *filter)
{
    return filter->codec == NULL || filter->codec->pack != NULL;
}

/* One step of transposing the 8 x 8 bytes of `words`: swaps the blocks of `distance` rows and
 * columns that lie across the diagonal. */
static inline void swap_blocks(uint64_t words[8], unsigned distance, uint64_t mask)
{
    for (unsigned i = 0; i < 8; i++) {
        if ((i & distance) != 0)
            continue;
        uint64_t swapped = (words[i] >> (8 * distance) ^ words[i + distance]) & mask;
        words[i + distance] ^= swapped;
        words[i] ^= swapped << (8 * distance);
    }
}

static inline void transpose(uint64_t words[8])
{
    swap_blocks(words, 1, UINT64_C(0x00FF00FF00FF00FF));
    swap_blocks(words, 2, UINT64_C(0x0000FFFF0000FFFF));
    swap_blocks(words, 4, UINT64_C(0x00000000FFFFFFFF));
}

/* First bytes of all values, then second bytes, ... Eight values at a time: their 64 bytes are a
 * square that is transposed in registers. */
static void shuffle(unsigned char *out, const void *values, size_t count)
{
    const unsigned char *in = values;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t words[8];
        memcpy(words, in + i * 8, sizeof words);
        transpose(words);
        for (size_t byte = 0; byte < 8; byte++)
            memcpy(out + byte * count + i, &words[byte], 8);
    }
    for (; i < count; i++)
        for (size_t byte = 0; byte < 8; byte++)
            out[byte * count + i] = in[i * 8 + byte];
}

void sp_hdf5_unshuffle(void *values, const void *shuffled, size_t count, size_t width)
{
    const unsigned char *in = shuffled;
    unsigned char *out = values;
    size_t i = 0;
    for (; width == 8 && i + 8 <= count; i += 8) {
        uint64_t words[8];
        for (size_t byte = 0; byte < 8; byte++)
            memcpy(&words[byte], in + byte * count + i, 8);
        transpose(words);
        memcpy(out + i * 8, words, sizeof words);
    }
    for (; i < count; i++)
        for (size_t byte = 0; byte < width; byte++)
            out[i * width + byte] = in[byte * count + i];
}

static bool make_room(unsigned char **buffer, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return true;
    unsigned char *grown = realloc(*buffer, wanted);
    if (grown == NULL)
        return false;
    *buffer = grown;
    *room = wanted;
    return true;
}

static void drop_state(sp_hdf5_packer *packer)
{
    if (packer->state != NULL)
        packer->made_for.codec->stop(packer->state);
    packer->state = NULL;
}

static bool prepare(sp_hdf5_packer *packer, const sp_hdf5_filter *filter, size_t size)
{
    if (packer->state != NULL && (packer->made_for.codec != filter->codec ||
                                  packer->made_for.level != filter->level))
        drop_state(packer);
    if (packer->state == NULL) {
        packer->made_for = *filter;
        packer->state = filter->codec->start(filter->level);
    }
    return packer->state != NULL &&
           make_room(&packer->shuffled, &packer->shuffled_room, size) &&
           make_room(&packer->packed, &packer->packed_room,
                     filter->codec->bound(packer->state, size));
}

bool sp_hdf5_pack(sp_hdf5_packer *packer, const sp_hdf5_filter *filter, const void *values,
                  size_t count, sp_hdf5_packed *out)
{
    size_t size = count * sizeof(int64_t);
    if (filter->codec == NULL) {
        *out = (sp_hdf5_packed){values, size, 0};
        return true;
    }
    if (!prepare(packer, filter, size))
        return false;
    shuffle(packer->shuffled, values, count);
    size_t packed = filter->codec->pack(packer->state, packer->shuffled, size, packer->packed,
                                        packer->packed_room);
    if (packed == 0 || packed >= size)
        *out = (sp_hdf5_packed){packer->shuffled, size, SP_HDF5_CODEC_STAGE};
    else
        *out = (sp_hdf5_packed){packer->packed, packed, 0};
    return true;
}

void sp_hdf5_packer_release(sp_hdf5_packer *packer)
{
    drop_state(packer);
    free(packer->shuffled);
    free(packer->packed);
    *packer = (sp_hdf5_packer){0};
}
