/* Objects of some resources in protobuf rather than JSON, which costs a server a fraction: for who
 * creates or watches thousands. JSON stays right wherever this says that it cannot. */
#pragma once

#include "kube/api.h"
#include "kube/protobuf.h"

struct kube_form {
    const struct kube_resource *res;
    /* Of objects that are created. NULL: as JSON */
    const struct schema *writes;
    const struct wire *writes_wire;
    /* Of objects in watches and in answers that need metadata only: may lack what nobody reads, and
     * what it has may be there though empty. NULL: as JSON */
    const struct schema *reads;
    const struct wire *reads_wire;
};

#define KUBE_PROTOBUF "application/vnd.kubernetes.protobuf"

const struct kube_form *kube_form_find(const struct kube_form *forms, size_t n,
                                       const struct kube_resource *res); /* NULL: none */
/* The body of a create. STR_NONE: send JSON. f may be NULL. */
str kube_form_write(struct arena *a, const struct kube_form *f, jv obj);
/* The same body as JSON, for a server that does not take it. */
str kube_form_json(struct arena *a, const struct kube_form *f, str body);
bool kube_form_is(str body); /* it is protobuf: read it with this. */
/* An object as f reads it, or a Status, with kind and apiVersion. f NULL: Statuses only. Absent: as
 * e says. Borrows body. */
jv kube_form_read(struct arena *a, const struct kube_form *f, str body, struct err *e);
/* An event of a watch: the word, and the object's bytes. */
int kube_form_event(str message, str *word, str *obj, struct err *e);
