/* The states that are known: each once, with the one it was reached from first. */
#pragma once

#include "model.h"

struct states;

struct states *states_new(const struct shape *sh, size_t most);
void states_free(struct states *t);
/* Its number: a new one, or the one it has. */
size_t states_add(struct states *t, const struct state *s, size_t from);
size_t states_count(const struct states *t);
struct state states_at(const struct states *t, size_t number);
/* The events that lead to a state, as TAP comments; last: one more. */
void states_print_way(const struct states *t, size_t number, const struct event *last);
