/* complaint.h - one line on standard error for each trouble; the program's own output is left
 * alone. */
#ifndef SP_SESSION_COMPLAINT_H
#define SP_SESSION_COMPLAINT_H

/* Prints "scope-profiler: <text>" and a line end; errno is left alone. */
void sp_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
