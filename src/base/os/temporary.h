/* temporary.h - files that have no name and vanish with the process. */
#ifndef SP_BASE_OS_TEMPORARY_H
#define SP_BASE_OS_TEMPORARY_H

/* Makes one in a folder, for journal_file.h to write and to map, readable by nobody else; -1 with errno. */
int sp_os_temporary_file(const char *folder);

#endif
