/* Objects as rows of a Table, or as their metadata alone. */
#pragma once

#include "api/request.h"

/* 0, or -1 with 400 answered: includeObject is none of its values. */
int table_check(struct api_req *r);
jv table_columns(struct arena *a, const struct resource *res);
/* {"cells": [...], "object": ...} */
jv table_row(struct arena *a, const struct api_req *r, jv obj);
/* A Table around rows; columns absent: null, as in all but the first event of a watch. */
jv table_new(struct arena *a, const struct api_req *r, jv list_meta, jv columns, jv rows);
jv table_of_one(struct api_req *r, jv obj);
/* The same of what is not of the resource's own kind. */
jv table_of_other(struct api_req *r, jv obj, const struct kind_column *columns, size_t n, jv cells);
jv partial_of(struct arena *a, const struct api_req *r, jv obj);
