/* Hash map from text to a pointer. Keys are borrowed: they must outlive their entry. */
#pragma once

#include "base/str.h"

struct map_slot {
    str key;
    void *value;
    uint32_t hash;
    uint8_t state; /* empty, used, removed */
};

struct map {
    struct map_slot *slots;
    size_t n;    /* live entries */
    size_t used; /* live and removed slots */
    size_t cap;
};

void map_done(struct map *m); /* not the values */
void *map_get(const struct map *m, str key);
/* Returns the value that was there before, or NULL; the new key replaces the old one. */
void *map_put(struct map *m, str key, void *value);
void *map_remove(struct map *m, str key);
/* MAP_EACH (s, m) in no order; removing s is allowed. */
struct map_slot *map_next(const struct map *m, struct map_slot *after);
#define MAP_EACH(slot, m) for (struct map_slot *slot = NULL; (slot = map_next((m), slot));)
