/* CRC-32C (Castagnoli), by the processor's own instruction where it has one. */
#pragma once

#include "base/str.h"

/* Feed pieces one after the other; start with 0. */
uint32_t crc32c(uint32_t crc, str bytes);
