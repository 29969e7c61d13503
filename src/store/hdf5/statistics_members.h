/* statistics_members.h - names of the members of summary_statistics, in the order of
 * sp_row_statistics. */
#ifndef SP_STORE_HDF5_STATISTICS_MEMBERS_H
#define SP_STORE_HDF5_STATISTICS_MEMBERS_H

enum {
    SP_STATISTICS_MEMBERS = 11,
    SP_STATISTICS_GPU_COUNT = 7, /* the only unsigned one */
    SP_STATISTICS_FIRST_REAL = 9 /* from here on real numbers */
};
extern const char *const sp_hdf5_statistics_members[SP_STATISTICS_MEMBERS];

#endif
