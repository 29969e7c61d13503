/* markers.h - the instrument that puts LIKWID's markers around calls. */
#ifndef SP_BACKENDS_LIKWID_MARKERS_H
#define SP_BACKENDS_LIKWID_MARKERS_H

#include "scope_plugin.h"

/* The item of a request says what is wanted:
 *
 *   none           markers around calls; what was counted is published as `json_likwid`
 *   "markers"      the markers alone: whoever asks collects the results and closes them
 *   "environment"  no markers: the variables that steer LIKWID, as `json_likwid_environment`
 *
 * Markers that the program (or pylikwid) has started are used as they are, and left to it; else they are
 * started here, and, but for "markers", closed when the process ends. SP_ERR_NO_MODULE: there is no
 * LIKWID; SP_ERR_UNSUPPORTED: the program does not run under likwid-perfctr -m. */
SP_API int sp_instrument_module(const sp_instrument_request *request, sp_instrument *out,
                                sp_error *error);

#endif
