/* Answers of many objects. */
#pragma once

#include "api/request.h"

/* meta: of the list. items live in r->a and keep their values until the answer is through. */
void answer_list(struct api_req *r, jv meta, const struct store_item *items, size_t n);
