/* The string formats that custom resources may ask for. All others are ignored, as Kubernetes does
 * (so are int32, int64, double ...). */
#pragma once

#include "base/str.h"

typedef bool format_check(str s);

format_check *format_find(str name); /* dashes do not count; NULL: not a format we check */

/* shared by format.c and format_net.c */
format_check format_ipv4, format_ipv6, format_cidr, format_mac, format_uri, format_email,
    format_hostname;
