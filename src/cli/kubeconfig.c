/* Writing a kubeconfig with everything embedded. */

#include "cli/kubeconfig.h"

#include "base/base64.h"
#include "cli/data.h"

static int encoded(struct arena *a, const char *dir, const char *name, str *out, struct err *e)
{
    str text;

    if (data_read(a, arena_printf(a, "%s/pki/%s", dir, name).p, &text, e) < 0)
        return -1;
    *out = base64_encode(a, text);
    return 0;
}

int kubeconfig_text(struct arena *a, const char *dir, const char *server, str *out, struct err *e)
{
    str ca;
    str cert;
    str key;

    if (encoded(a, dir, "ca.crt", &ca, e) < 0 || encoded(a, dir, "client.crt", &cert, e) < 0 ||
        encoded(a, dir, "client.key", &key, e) < 0)
        return -1;
    *out = arena_printf(a,
                        "apiVersion: v1\n"
                        "kind: Config\n"
                        "current-context: muster\n"
                        "clusters:\n"
                        "- name: muster\n"
                        "  cluster:\n"
                        "    server: %s\n"
                        "    certificate-authority-data: %" PRI_STR "\n"
                        "contexts:\n"
                        "- name: muster\n"
                        "  context:\n"
                        "    cluster: muster\n"
                        "    user: muster-admin\n"
                        "    namespace: default\n"
                        "users:\n"
                        "- name: muster-admin\n"
                        "  user:\n"
                        "    client-certificate-data: %" PRI_STR "\n"
                        "    client-key-data: %" PRI_STR "\n",
                        server, STR_ARG(ca), STR_ARG(cert), STR_ARG(key));
    return 0;
}
