/* What SPDY/3 begins its compression of headers with (draft-mbelshe-httpbis-spdy-00, 2.6.10.1):
 * words, each behind its length, and a text of values. */

#include "http/spdy.h"

static const char words[] =
    "options\0head\0post\0put\0delete\0trace\0accept\0accept-charset\0accept-encoding\0"
    "accept-language\0accept-ranges\0age\0allow\0authorization\0cache-control\0connection\0"
    "content-base\0content-encoding\0content-language\0content-length\0content-location\0"
    "content-md5\0content-range\0content-type\0date\0etag\0expect\0expires\0from\0host\0if-match\0"
    "if-modified-since\0if-none-match\0if-range\0if-unmodified-since\0last-modified\0location\0"
    "max-forwards\0pragma\0proxy-authenticate\0proxy-authorization\0range\0referer\0retry-after\0"
    "server\0te\0trailer\0transfer-encoding\0upgrade\0user-agent\0vary\0via\0warning\0"
    "www-authenticate\0method\0get\0status\0"
    "200 OK\0version\0HTTP/1.1\0url\0public\0set-cookie\0keep-alive\0origin\0";

static const char values[] =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, "
    "Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdch"
    "charset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

char *spdy_dictionary(size_t *n)
{
    struct buf b = { 0 };

    for (const char *w = words; *w; w += strlen(w) + 1) {
        const char length[4] = { 0, 0, 0, (char)strlen(w) };
        buf_add(&b, (str){ length, sizeof(length) });
        buf_add(&b, str_of(w));
    }
    buf_add(&b, (str){ values, sizeof(values) - 1 });
    *n = b.n;
    return b.p;
}
