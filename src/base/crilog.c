#include "base/crilog.h"

static bool is_time(str s)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddddddddZ";

    for (size_t i = 0; i < sizeof(form) - 1; i++)
        if (form[i] == 'd' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != form[i])
            return false;
    return true;
}

bool crilog_read(str record, struct crilog *out)
{
    enum { TIME = 30 };
    str stream = str_sub(record, TIME + 1, CRILOG_TAG - 1);

    if (record.n < CRILOG_TEXT || !is_time(record) || record.p[TIME] != ' ' ||
        record.p[CRILOG_TAG - 1] != ' ' || record.p[CRILOG_TAG + 1] != ' ')
        return false;
    bool is_out = str_eq(stream, S("stdout"));
    char tag = record.p[CRILOG_TAG];
    if ((!is_out && !str_eq(stream, S("stderr"))) || (tag != 'F' && tag != 'P'))
        return false;
    *out = (struct crilog){ .time = str_sub(record, 0, TIME),
                            .stream = is_out ? CRILOG_OUT : CRILOG_ERR,
                            .ends = tag == 'F',
                            .text = str_sub(record, CRILOG_TEXT, record.n) };
    return true;
}
