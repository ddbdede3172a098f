/* Each row of the table of security settings, in each place: honoured, or refused in words that
 * name the field. docs/node.md has the same table. tests/unit/sandbox/test_confine.c tries with
 * real containers what is honoured. */

#include "node/confine.h"
#include "sandbox/caps.h"
#include "tap.h"

/* Places as letters: N and n: namespaces as root and as user; S and s: shared. Those named refuse.
 */
static const struct {
    const char *spec; /* of the pod, without its containers */
    const char *box;  /* of its one container's security context */
    const char *refused;
    const char *reason;
    const char *words; /* of the message */
} cases[] = {
    { "{}", "{}", "", "", "" },
    { "{'hostNetwork': true}", "{}", "", "", "" },
    { "{'hostPID': true}", "{}", "Nn", "UnsupportedSecurityContext", "hostPID cannot be honoured" },
    { "{'hostPID': false}", "{}", "", "", "" },
    { "{'hostIPC': true}", "{}", "Nn", "UnsupportedSecurityContext", "hostIPC cannot be" },
    { "{'shareProcessNamespace': true}", "{}", "Nn", "UnsupportedSecurityContext",
      "shareProcessNamespace cannot be" },
    { "{'hostUsers': false}", "{}", "NSs", "UnsupportedSecurityContext",
      "hostUsers: false cannot" },
    { "{'hostUsers': true}", "{}", "", "", "" },
    { "{'securityContext': {'sysctls': [{'name': 'net.ipv4.tcp_syncookies', 'value': '0'}]}}", "{}",
      "Ss", "SysctlForbidden", "at level shared they would be the machine's" },
    { "{'securityContext': {'sysctls': [{'name': 'net/ipv4/ip_forward', 'value': '1'}]}}", "{}",
      "NnSs", "SysctlForbidden", "" },
    { "{'securityContext': {'sysctls': [{'name': 'kernel.core_pattern', 'value': 'x'}]}}", "{}",
      "NnSs", "SysctlForbidden", "" },
    { "{'hostNetwork': true, 'securityContext': {'sysctls': [{'name': 'net.ipv4.tcp_wmem', 'value': "
      "'1'}]}}",
      "{}", "NnSs", "SysctlForbidden", "" },
    { "{}", "{'privileged': true}", "s", "UnsupportedSecurityContext",
      "privileged of container main cannot" },
    { "{}", "{'capabilities': {'add': ['NET_ADMIN']}}", "s", "UnsupportedSecurityContext",
      "capabilities.add of container main" },
    { "{}", "{'capabilities': {'drop': ['ALL', 'CAP_CHOWN']}}", "", "", "" },
    { "{}", "{'capabilities': {'drop': ['FLYING']}}", "NnSs", "UnsupportedSecurityContext",
      "\"FLYING\" is not a capability" },
    { "{}", "{'readOnlyRootFilesystem': true}", "Ss", "UnsupportedSecurityContext",
      "readOnlyRootFilesystem of container main" },
    { "{}", "{'allowPrivilegeEscalation': false}", "", "", "" },
    { "{}", "{'allowPrivilegeEscalation': true}", "", "", "" },
    { "{}", "{'runAsNonRoot': true}", "", "", "" }, /* by kubelet's CreateContainerConfigError */
    { "{}", "{'seccompProfile': {'type': 'RuntimeDefault'}}", "", "", "" },
    { "{}", "{'seccompProfile': {'type': 'Unconfined'}}", "", "", "" },
    { "{}", "{'seccompProfile': {'type': 'Localhost', 'localhostProfile': 'x.json'}}", "NnSs",
      "UnsupportedSecurityContext", "seccompProfile of type Localhost of container main" },
    { "{'securityContext': {'seccompProfile': {'type': 'Localhost', 'localhostProfile': 'x'}}}",
      "{'seccompProfile': {'type': 'RuntimeDefault'}}", "", "", "" },
    { "{}", "{'appArmorProfile': {'type': 'Unconfined'}}", "", "", "" },
    { "{}", "{'appArmorProfile': {'type': 'RuntimeDefault'}}", "NnSs", "AppArmor",
      "appArmorProfile of container main" },
    { "{'securityContext': {'appArmorProfile': {'type': 'Localhost', 'localhostProfile': 'x'}}}",
      "{}", "NnSs", "AppArmor", "appArmorProfile of container main" },
    { "{'securityContext': {'seLinuxOptions': {'level': 's0'}}}", "{}", "NnSs",
      "UnsupportedSecurityContext", "seLinuxOptions of container main" },
    { "{}", "{'seLinuxOptions': {'type': 'x'}}", "NnSs", "UnsupportedSecurityContext",
      "seLinuxOptions of container main" },
    { "{}", "{'windowsOptions': {'runAsUserName': 'x'}}", "NnSs", "UnsupportedSecurityContext",
      "windowsOptions of container main" },
    { "{}", "{'procMount': 'Default'}", "", "", "" },
    { "{}", "{'procMount': 'Unmasked'}", "N", "UnsupportedSecurityContext", "procMount: Unmasked" },
};

static jv pod_of(struct arena *a, const char *spec, const char *box, const char *list)
{
    struct jdoc *s = J(spec);
    struct jdoc *b = J(box);
    jv container =
        jobj(a, { "name", jstrz(a, "main") }, { "securityContext", jv_copy(a, jdoc_root(b)) });
    jv pod = jobj(
        a, { "spec", jv_with_key(a, jv_copy(a, jdoc_root(s)), str_of(list), jarr(a, container)) });

    jdoc_unref(s);
    jdoc_unref(b);
    return pod;
}

static void each_row_in_each_place(void)
{
    static const char places[] = { 'N', 'n', 'S', 's' };

    for (size_t i = 0; i < COUNT(cases); i++)
        for (int at = 0; at < CONFINE_PLACES; at++) {
            AUTO(arena) struct arena *a = arena_new();
            bool refused = strchr(cases[i].refused, places[at]);
            jv pod = pod_of(a, cases[i].spec, cases[i].box, "containers");
            struct confine_refusal r = confine_check(a, pod, (enum confine_place)at);
            ok((r.reason.n > 0) == refused &&
                   (!refused || (str_eqz(r.reason, cases[i].reason) &&
                                 str_contains(r.message, str_of(cases[i].words)))),
               "%c %s %s: %" PRI_STR, places[at], cases[i].spec, cases[i].box, STR_ARG(r.message));
        }
}

static void init_containers_and_annotations_count(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv pod = pod_of(a, "{}", "{'seLinuxOptions': {'type': 'x'}}", "initContainers");
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata': {'annotations': {'container.apparmor.security.beta.kubernetes.io/main': "
          "'runtime/default'}}, 'spec': {'containers': [{'name': 'main'}]}}");

    ok(confine_check(a, pod, CONFINE_NAMESPACES_ROOT).reason.n > 0, "an init container's");
    is_str(confine_check(a, jdoc_root(d), CONFINE_NAMESPACES_ROOT).reason, S("AppArmor"),
           "an annotation's");
    ok(confine_check(a, JV_EMPTY_OBJ, CONFINE_SHARED_USER).reason.n == 0,
       "a pod of nothing asks for nothing");
}

static void starts(const char *box, enum confine_place place, const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();
    jv pod = pod_of(a, "{}", box, "containers");

    is_json(confine_start(a, pod, jv_index(jv_at(pod, "spec", "containers"), 0), place), want,
            what);
}

static void what_a_container_starts_with(void)
{
    AUTO(arena) struct arena *a = arena_new();
    uint64_t usual = warden_caps_default(), admin = warden_caps_named(S("NET_ADMIN"));
    const char *one = arena_printf(a, "{\"caps\":%lld}", (long long)(usual | admin)).p;

    starts("{}", CONFINE_NAMESPACES_ROOT, "{}", "nothing but the defaults");
    starts("{'capabilities': {'add': ['NET_ADMIN']}}", CONFINE_NAMESPACES_ROOT, one, "one more");
    starts("{'capabilities': {'add': ['CAP_NET_ADMIN']}}", CONFINE_NAMESPACES_USER,
           arena_printf(a, "{\"caps\":%lld,\"ambient\":%lld}", (long long)(usual | admin),
                        (long long)admin)
               .p,
           "in a user namespace it is there at once");
    starts("{'capabilities': {'drop': ['ALL']}}", CONFINE_SHARED_ROOT, "{\"caps\":0}", "none");
    starts("{'capabilities': {'drop': ['ALL'], 'add': ['NET_ADMIN']}}", CONFINE_SHARED_ROOT,
           "{\"caps\":4096}", "none but one");
    starts("{'capabilities': {'add': ['ALL'], 'drop': ['NET_ADMIN']}}", CONFINE_SHARED_ROOT,
           arena_printf(a, "{\"caps\":%lld}", (long long)(WARDEN_CAPS_ALL & ~admin)).p,
           "all but one");
    starts("{'privileged': true}", CONFINE_NAMESPACES_ROOT,
           arena_printf(a, "{\"privileged\":true,\"caps\":%lld}", (long long)WARDEN_CAPS_ALL).p,
           "privileged");
    starts("{'allowPrivilegeEscalation': false, 'readOnlyRootFilesystem': true, 'procMount': "
           "'Unmasked', 'seccompProfile': {'type': 'Unconfined'}}",
           CONFINE_NAMESPACES_USER,
           "{\"no_new_privs\":true,\"unconfined\":true,\"read_only\":true,\"unmasked\":true}",
           "the rest");
}

static void sysctls_are_files(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'securityContext': {'sysctls': [{'name': 'net.ipv4.tcp_rmem', 'value': '1 2 "
          "3'}]}}}");

    is_json(confine_sysctls(a, jdoc_root(d)), "[\"net/ipv4/tcp_rmem=1 2 3\"]", "by their files");
    ok(!jv_exists(confine_sysctls(a, JV_EMPTY_OBJ)), "none");
}

int main(void)
{
    each_row_in_each_place();
    init_containers_and_annotations_count();
    what_a_container_starts_with();
    sysctls_are_files();
    return tap_done();
}
