/* Floating-point numbers as Go prints them: the fewest digits that read back as the same number. */
#pragma once

#include <stddef.h>

enum { GOFLOAT_BYTES = 40 };

/* encoding/json: no exponent between 1e-6 and 1e21. d must be finite. Returns the length. */
size_t gofloat_json(char out[GOFLOAT_BYTES], double d);
/* strconv.FormatFloat(d, 'g', -1, bits), bits 32 or 64: "1.5", "1e+06", "+Inf", "NaN". */
size_t gofloat_g(char out[GOFLOAT_BYTES], double d, int bits);
/* fmt's %v: as gofloat_g, but no exponent below 1e21. */
size_t gofloat_v(char out[GOFLOAT_BYTES], double d);
