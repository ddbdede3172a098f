/* The preload library as bytes: made when the program is built (embed.py). */
#pragma once

#include <stddef.h>

extern const unsigned char preload_blob[];
extern const size_t preload_blob_size;
