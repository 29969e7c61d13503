/* metadata_section.h - which section of an inspection or a report a key of the metadata belongs to. */
#ifndef SP_EXPORT_METADATA_SECTION_H
#define SP_EXPORT_METADATA_SECTION_H

/* "Run", "System", "Parallelism", "Slurm", "Environment" or "Other". */
const char *sp_metadata_section(const char *key);

#endif
