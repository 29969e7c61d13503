/* xml.h - text inside XML documents. */
#ifndef SP_EXPORT_XML_H
#define SP_EXPORT_XML_H

#include "base/text.h"

/* Appends text that may stand in an element or a quoted attribute: no markup, and no character that
 * such a document may not hold. */
void sp_xml_add_text(sp_text *out, const char *text);
/* At most that many characters, the last ones then "..". */
void sp_xml_add_clipped(sp_text *out, const char *text, size_t max_letters);

#endif
