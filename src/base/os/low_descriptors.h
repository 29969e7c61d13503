/* low_descriptors.h - keeping files off the numbers of the standard streams. A process may have closed
 * those, and what it, or anybody in it, then writes to standard error would end up in our file. */
#ifndef SP_BASE_OS_LOW_DESCRIPTORS_H
#define SP_BASE_OS_LOW_DESCRIPTORS_H

typedef struct sp_os_low_descriptors {
    int held[3], count;
} sp_os_low_descriptors;

/* Occupies those of descriptors 0 to 2 that are free, so that a file opened now gets a higher one. */
void sp_os_low_descriptors_hold(sp_os_low_descriptors *out);
/* Leaves errno alone. */
void sp_os_low_descriptors_release(const sp_os_low_descriptors *held);

#endif
