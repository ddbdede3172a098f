/* See make_words.h. */

#include "cli/make_words.h"

enum { NAME_MOST = 40 }; /* leaves room for "-worker-12345" in a DNS label of 63 */

str words_base(const char *word)
{
    str s = str_of(word);
    ptrdiff_t slash = str_rfind(s, '/');

    return slash < 0 ? s : str_sub(s, (size_t)slash + 1, s.n);
}

/* "python", "python3", "python3.11" */
static bool is_python(const char *word)
{
    str s = words_base(word);

    if (!str_starts(s, S("python")))
        return false;
    for (size_t i = sizeof("python") - 1; i < s.n; i++)
        if (s.p[i] != '.' && (s.p[i] < '0' || s.p[i] > '9'))
            return false;
    return true;
}

/* What a word of flags ("-u", "-um", "-X") leads to: 'm' and 'c' end the flags of Python, 'W' and
 * 'X' at the end take the next word; 0: another flag or what is run may follow. */
static char flag_leads_to(str word)
{
    if (word.n < 2 || word.p[0] != '-' || word.p[1] == '-')
        return 0;
    for (size_t i = 1; i < word.n; i++) {
        char c = word.p[i];
        if (c == 'm' || c == 'c')
            return c;
        if (c == 'W' || c == 'X')
            return i + 1 == word.n ? c : 0;
    }
    return 0;
}

struct python_words words_python(struct words w)
{
    struct python_words p = { .what = w.n };

    if (w.n == 0 || !is_python(w.at[0]))
        return p;
    p.is_python = true;
    for (int i = 1; i < w.n; i++) {
        str word = str_of(w.at[i]);
        bool is_flag = word.n > 1 && word.p[0] == '-';
        char leads_to = flag_leads_to(word);
        if (leads_to == 'W' || leads_to == 'X')
            i++;
        if (is_flag && leads_to != 'm' && leads_to != 'c')
            continue;
        p.what = i;
        p.is_script = !is_flag && !str_eqz(word, "-");
        p.is_module = str_eqz(word, "-m");
        break;
    }
    return p;
}

static bool is_script(str word)
{
    return !str_starts(word, S("-")) && (str_ends(word, S(".py")) || str_ends(word, S(".sh")));
}

static str base_name(struct words w)
{
    struct python_words p = words_python(w);

    if (p.is_module && p.what + 1 < w.n) {
        str module = str_of(w.at[p.what + 1]);
        ptrdiff_t dot = str_rfind(module, '.');
        return dot < 0 ? module : str_sub(module, (size_t)dot + 1, module.n);
    }
    for (int i = 0; i < w.n; i++) {
        str base = words_base(w.at[i]);
        if (is_script(base))
            return str_sub(base, 0, base.n - 3);
    }
    return w.n ? words_base(w.at[0]) : STR_NONE;
}

str words_name(struct arena *a, struct words w)
{
    AUTO(buf) struct buf b = { 0 };
    str base = arena_lower(a, base_name(w));

    for (size_t i = 0; i < base.n && b.n < NAME_MOST; i++) {
        char c = base.p[i];
        bool is_letter = c >= 'a' && c <= 'z';
        bool is_digit = c >= '0' && c <= '9';
        if (!b.n && is_digit)
            buf_add(&b, S("job-")); /* names begin with a letter */
        if (is_letter || is_digit)
            buf_addc(&b, c);
        else if (b.n && b.p[b.n - 1] != '-')
            buf_addc(&b, '-');
    }
    str name = buf_str(&b);
    while (name.n && name.p[name.n - 1] == '-')
        name.n--;
    return name.n ? arena_str(a, name) : S("job");
}

/* Kubernetes makes "$$" into "$" and "$(NAME)" into a variable's value; a shell script means
 * something else by both. */
static str escaped(struct arena *a, str word)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < word.n; i++) {
        char next = i + 1 < word.n ? word.p[i + 1] : 0;
        if (word.p[i] == '$' && (next == '$' || next == '('))
            buf_addc(&b, '$');
        buf_addc(&b, word.p[i]);
    }
    return b.n == word.n ? word : arena_str(a, buf_str(&b));
}

void words_push(struct jbuild *b, struct words w, int from, int to)
{
    for (int i = from; i < to && i < w.n; i++)
        jb_push(b, jstr(b->a, escaped(b->a, str_of(w.at[i]))));
}
