/* instruments.h - the instruments that settings ask for, opened. Inside this layer. */
#ifndef SP_SESSION_INSTRUMENTS_H
#define SP_SESSION_INSTRUMENTS_H

#include "recorder/instruments.h"
#include "session/settings_table.h"

/* For a native recording: what cannot be had is said on standard error and left out, as the times are
 * worth having without it. NULL: there are none. */
sp_instruments *sp_instruments_of_settings(const sp_setting_value values[SP_NUM_SETTINGS]);

#endif
