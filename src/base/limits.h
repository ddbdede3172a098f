/* Every input has a limit. One place to read them all. */
#pragma once

enum {
    LIMIT_JSON_DEPTH = 512, /* nesting, as deep as any Kubernetes client goes */
    LIMIT_YAML_DEPTH = 512,
    LIMIT_YAML_ALIAS_FACTOR = 10,       /* nodes after expansion over nodes before ... */
    LIMIT_YAML_ALIAS_FREE = 100000,     /* ... once past this many */
    LIMIT_BODY_BYTES = 3 * 1024 * 1024, /* request body, as kube-apiserver */
    LIMIT_LOOP_BYTES = 32 * 1024,       /* bodies and objects worked on between other requests */
    LIMIT_OBJECT_BYTES = 1536 * 1024,   /* stored object, as etcd's request limit */
    LIMIT_HEADER_BYTES = 64 * 1024,     /* request line and headers together */
    LIMIT_HEADER_COUNT = 100,
    LIMIT_HEADER_FLOOD = 2 * 64 * 1024, /* decoded bytes of one head that end the connection */
    LIMIT_TURN_HEADS = 32,              /* requests read from a connection in a turn of the loop */
    LIMIT_TURN_HEADER_BYTES = 128 * 1024, /* ... and bytes of their heads, decoded */
    LIMIT_URL_BYTES = 16 * 1024,
    LIMIT_CONNECTIONS = 4096,
    LIMIT_STREAMS = 2500, /* concurrent HTTP/2 streams a connection */
    LIMIT_WATCHERS = 20000,
    LIMIT_HEADER_MS = 10 * 1000, /* a request's head must be here by then */
    LIMIT_BODY_MS = 60 * 1000,
    LIMIT_IDLE_MS = 180 * 1000, /* keep-alive without a request */
    LIMIT_HANDSHAKE_MS = 10 * 1000,
    LIMIT_LINGER_MS = 2 * 1000,
    LIMIT_OPEN_REQUESTS = 40000,           /* of one server, idle watches too */
    LIMIT_OPEN_BODIES = 256 * 1024 * 1024, /* bytes of request bodies one server holds */
    LIMIT_WS_MESSAGE_BYTES = 1024 * 1024,
    LIMIT_WS_QUEUE_BYTES = 16 * 1024 * 1024, /* sent but not taken by the client */
    LIMIT_WATCH_LINE = 16 * 1024 * 1024,     /* one event, as a client takes it */
    LIMIT_ANSWER_BYTES = 64 * 1024 * 1024,   /* an answer, as a client takes it */
    LIMIT_JSON_PATCH_OPS = 10000,            /* as kube-apiserver */
    LIMIT_BINDINGS = 1000,                   /* of one request: they are one write */
    LIMIT_AFFINITY =
        1000, /* terms of a pod, and what they select: each is compared with each pod */
    LIMIT_MANAGED_FIELDS = 10, /* update managers kept, as kube-apiserver */
    LIMIT_ANNOTATION_BYTES = 256 * 1024,
    LIMIT_SELECTOR_BYTES = 64 * 1024,
    LIMIT_SELECTOR_TERMS = 256, /* of a request: each is compared with each object */
    LIMIT_QUANTITY_BYTES = 256,
    LIMIT_PATTERN_INSTS = 200 * 1000,          /* of a regular expression, its counts written out */
    LIMIT_CEL_STEPS = 1000 * 1000,             /* of one run of a rule, as kube-apiserver's cost */
    LIMIT_CEL_OBJECT_STEPS = 10 * 1000 * 1000, /* of all rules on one object, as kube-apiserver */
    LIMIT_CEL_BYTES = 32 * 1024 * 1024,        /* of the values that one run makes */
    LIMIT_JSONPATH_BYTES = 4096,
    LIMIT_JSONPATH_DEPTH = 16, /* filters and unions within each other */
    LIMIT_JSONPATH_RESULTS = 100000,
    LIMIT_PROBLEMS = 1000,            /* reported for one object */
    LIMIT_PROBLEM_BYTES = 512 * 1024, /* of their texts, which may quote the object each */
    LIMIT_QUOTED_BYTES = 8 * 1024,    /* of a value in one of them; the rest is counted */
    LIMIT_STRICT = 100,               /* duplicate or unknown fields told of one body */
    LIMIT_YAML_TAGS = 100,            /* %TAG directives: libyaml compares each with all */
};
