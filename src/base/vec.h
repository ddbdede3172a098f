/* A growing array of any type: struct { VEC(struct route) } routes = { 0 }; */
#pragma once

#include "base/arena.h"
#include "base/mem.h"

#define VEC(type) \
    type *at;     \
    size_t n;     \
    size_t cap

#define vec_push(v, ...)                                                \
    do {                                                                \
        if ((v)->n == (v)->cap) {                                       \
            (v)->cap = (v)->cap ? (v)->cap * 2 : 8;                     \
            (v)->at = mem_resize((v)->at, (v)->cap * sizeof(*(v)->at)); \
        }                                                               \
        (v)->at[(v)->n++] = (__VA_ARGS__);                              \
    } while (0)

#define vec_done(v)            \
    do {                       \
        free((v)->at);         \
        (v)->at = NULL;        \
        (v)->n = (v)->cap = 0; \
    } while (0)

/* In an arena instead, which frees all of it: room for one more, and adding one. */
#define vec_room_in(a, v)                                                                         \
    do {                                                                                          \
        if ((v)->n == (v)->cap) {                                                                 \
            (v)->cap = (v)->cap ? (v)->cap * 2 : 8;                                               \
            (v)->at =                                                                             \
                arena_grow((a), (v)->at, (v)->n * sizeof(*(v)->at), (v)->cap * sizeof(*(v)->at)); \
        }                                                                                         \
    } while (0)
#define vec_push_in(a, v, ...)             \
    do {                                   \
        vec_room_in((a), (v));             \
        (v)->at[(v)->n++] = (__VA_ARGS__); \
    } while (0)
