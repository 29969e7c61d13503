/* device_times.h - what a device takes for the calls of a recording: an instrument made of the events of
 * a driver (scope_plugin.h).
 *
 * A call gets a ticket when it ends. Pairs of events wait in the order of their calls; the ends of later
 * calls ask for the oldest, without waiting, and carry the times that are known into the log. Events are
 * used again, so a program that the device keeps up with needs a handful however long it runs.
 *
 * Publication waits, not for ever, for the device to come to what has ended.
 *
 * The driver is never called with a lock held: it may need a lock of its language. */
#ifndef SP_SESSION_DEVICE_TIMES_H
#define SP_SESSION_DEVICE_TIMES_H

#include "scope_plugin.h"

/* Pairs of one thread that may wait: beyond it calls have no device time. */
enum { SP_DEVICE_PENDING = 1 << 16 };

/* How long a publication waits for a device that does not come to its events. */
#define SP_DEVICE_TIMEOUT_NS INT64_C(10000000000)

/* The driver is copied and, whatever becomes of it, released once: also when this fails.
 * `syncs_at_end`: a call ends only when the device has done what it was given. */
int sp_device_times_create(const sp_device_driver *driver, bool syncs_at_end, sp_instrument *out,
                           sp_error *error);

#endif
