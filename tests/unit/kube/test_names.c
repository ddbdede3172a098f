/* Names, addresses and their texts, as a real kube-apiserver gave them. */

#include "kube/ip.h"
#include "kube/names.h"
#include "tap.h"

#define SUBDOMAIN                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL                                                                                    \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "   \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define QUALIFIED                                                                                  \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE                                                                                \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is "                                                   \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
    const char *what;
    name_rule *rule;
    const char *value;
    const char *wants[3];
} cases[] = {
    { "subdomain", name_dns1123_subdomain, "a.b-c.d0", { NULL } },
    { "subdomain", name_dns1123_subdomain, "", { SUBDOMAIN } },
    { "subdomain", name_dns1123_subdomain, "a..b", { SUBDOMAIN } },
    { "subdomain", name_dns1123_subdomain, "a.-b", { SUBDOMAIN } },
    { "subdomain", name_dns1123_subdomain, "a-.b", { SUBDOMAIN } },
    { "subdomain", name_dns1123_subdomain, "a.b-", { SUBDOMAIN } },
    { "subdomain", name_dns1123_subdomain, "A", { SUBDOMAIN } },
    { "label", name_dns1123_label, "a-0", { NULL } },
    { "label", name_dns1123_label, "a.b", { "must not contain dots" } },
    { "label", name_dns1123_label, "-a", { LABEL } },
    { "label", name_dns1123_label, X64, { "must be no more than 63 characters" } },
    { "1035", name_dns1035_label, "a-0", { NULL } },
    { "1035",
      name_dns1035_label,
      "0a",
      { "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')" } },
    { "qualified", name_qualified, "example.com/My_Name.0", { NULL } },
    { "qualified", name_qualified, "", { "name part must be non-empty", QUALIFIED } },
    { "qualified", name_qualified, "/a", { "prefix part must be non-empty" } },
    { "qualified", name_qualified, "A/a", { "prefix part " SUBDOMAIN } },
    { "qualified", name_qualified, "a b", { QUALIFIED } },
    { "label value", name_label_value, "", { NULL } },
    { "label value", name_label_value, "-", { LABEL_VALUE } },
    { "port", name_port, "http-1", { NULL } },
    { "port",
      name_port,
      "1-",
      { "must contain at least one letter (a-z)", "must not begin or end with a hyphen" } },
    { "env", name_env_var, "a b", { NULL } },
    { "env",
      name_env_var,
      "a=b",
      { "a valid environment variable name must consist only of printable ASCII characters other "
        "than '='" } },
    { "key", name_config_key, "..data", { "must not start with '..'" } },
    { "key", name_config_key, "a.b_c-D", { NULL } },
    { "segment", name_path_segment, "a/b%c", { "may not contain '/'", "may not contain '%'" } },
    { "underscore", name_dns1123_subdomain_underscore, "_ldap._tcp.x", { NULL } },
    { "wildcard", name_wildcard_subdomain, "*.a.b", { NULL } },
    { "percent", name_percent, "25%", { NULL } },
};

static void names_get_their_texts(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct name_errors e = cases[i].rule(str_of(cases[i].value));
        unsigned n = 0;
        while (n < 3 && cases[i].wants[n])
            n++;
        ok(e.n == n, "%s \"%s\" has %u problems", cases[i].what, cases[i].value, n);
        for (unsigned j = 0; j < n && j < e.n; j++)
            is_str(str_of(e.at[j]), str_of(cases[i].wants[j]), cases[i].what);
    }
}

static void a_prefix_may_end_in_a_dash(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct problems ps = { .a = a };

    name_is_subdomain(&ps, NULL, S("job-"), true);
    is_int((int64_t)ps.n, 0, "job- as a generateName");
    name_is_subdomain(&ps, NULL, S("job-"), false);
    is_int((int64_t)ps.n, 1, "job- as a name");
}

static const struct {
    const char *in;
    const char *out; /* NULL: no address */
} addresses[] = {
    { "10.0.0.1", "10.0.0.1" },
    { "010.0.0.1", "10.0.0.1" },
    { "256.0.0.1", NULL },
    { "1.2.3", NULL },
    { "1.2.3.4.5", NULL },
    { "::", "::" },
    { "::1", "::1" },
    { "1::", "1::" },
    { "2001:DB8:0:0:0:0:0:1", "2001:db8::1" },
    { "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
    { "1:0:0:2:0:0:0:3", "1:0:0:2::3" },
    { "::ffff:1.2.3.4", "1.2.3.4" },
    { "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8" },
    { "1:2:3:4:5:6:7:8:9", NULL },
    { "1::2::3", NULL },
    { "1:2", NULL },
    { "12345::", NULL },
    { "::1.2.3.4", "::102:304" },
    { "fe80::1%eth0", NULL },
    { "", NULL },
    { ":", NULL },
};

static void addresses_are_read_as_go_reads_them(void)
{
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(addresses); i++) {
        struct ip ip;
        bool good = ip_parse(str_of(addresses[i].in), &ip);
        ok(good == (addresses[i].out != NULL), "\"%s\" is %s", addresses[i].in,
           addresses[i].out ? "an address" : "none");
        if (good && addresses[i].out)
            is_str(ip_text(a, &ip), str_of(addresses[i].out), addresses[i].in);
    }
}

static void cidrs_contain_each_other(void)
{
    struct cidr big;
    struct cidr small;

    ok(cidr_parse(S("10.0.0.0/8"), &big) && cidr_parse(S("10.1.0.0/16"), &small), "both parse");
    ok(cidr_contains(&big, &small), "/8 contains its /16");
    ok(!cidr_contains(&small, &big), "but not the other way round");
    ok(cidr_parse(S("11.0.0.0/16"), &small) && !cidr_contains(&big, &small), "nor another");
    ok(!cidr_parse(S("10.0.0.0/33"), &big), "no /33 of IPv4");
    ok(!cidr_parse(S("10.0.0.0"), &big), "a prefix length is needed");
}

int main(void)
{
    names_get_their_texts();
    a_prefix_may_end_in_a_dash();
    addresses_are_read_as_go_reads_them();
    cidrs_contain_each_other();
    return tap_done();
}
