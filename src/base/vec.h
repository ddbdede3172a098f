/* A growing array of any type: struct { VEC(struct route) } routes = { 0 }; */
#pragma once

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
