/* doctor.h - lines of the `doctor` report. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stddef.h>

void cli_doctor_heading(const char *title);
/* "  name          value" */
void cli_doctor_fact(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A trouble and what to do about it; counted. */
void cli_doctor_trouble(const char *what, const char *remedy);

/* First line of a small file of the system, without its newline; "" when it cannot be read. */
void cli_read_line(const char *path, char *out, size_t room);

void cli_doctor_clock(void); /* doctor_clock.c */
void cli_doctor_python(void); /* doctor_python.c */

#endif
