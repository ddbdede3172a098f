/* Words for small tables of types, as far as somebody here reads them: a type is rows of name and
 * type. Those of whole types are in builtin/types/type_table.h. */
#pragma once

#include "kube/schema.h"

#define FIELD(word, of)                       \
    {                                         \
        .name = S_INIT(word), .schema = &(of) \
    }
#define OBJECT(its_name, rows)                                                               \
    {                                                                                        \
        .type = SCHEMA_OBJECT, .name = (its_name), .fields = (rows), .n_fields = COUNT(rows) \
    }
#define LIST(of)                            \
    {                                       \
        .type = SCHEMA_LIST, .items = &(of) \
    }
