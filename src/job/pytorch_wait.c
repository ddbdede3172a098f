/* Workers dial the master by a name that is known only once it is ready. Those that start early
 * wait for it in an init container: by default one of the job's own image, for as long as it takes;
 * when the operator's flags name an image or a template, the original's. */

#include "base/yaml.h"
#include "job/pytorch.h"

#include <inttypes.h>

enum { DEFAULT_TRIES = 100 };

static jv amounts(struct arena *a, const char *cpu, const char *memory)
{
    return jobj(a, { "cpu", jstr(a, str_of(cpu)) }, { "memory", jstr(a, str_of(memory)) });
}

static jv container(struct arena *a, jv image, jv pull, jv security, jv resources, str script)
{
    return jobj(a, { "name", jstrz(a, "init-pytorch") }, { "image", image },
                { "imagePullPolicy", pull },
                { "command", jarr(a, jstrz(a, "sh"), jstrz(a, "-c"), jstr(a, script)) },
                { "resources", resources }, { "securityContext", security });
}

/* An image with none of the three goes on: its program must wait by itself. Python needs some
 * memory. It sleeps nearly all the time, so it asks for next to nothing: the requests of many
 * workers that ask for nothing themselves would add up to more than a machine has. */
static jv own_container(struct arena *a, const struct job_role *r, str host)
{
    str script = arena_printf(a,
                              "look() {\n"
                              "  if command -v getent; then getent hosts %1$.*2$s\n"
                              "  elif command -v nslookup; then nslookup %1$.*2$s\n"
                              "  elif command -v python3; then\n"
                              "    python3 -c 'import socket; socket.gethostbyname(\"%1$.*2$s\")'\n"
                              "  fi >/dev/null 2>&1\n"
                              "}\n"
                              "until look; do echo waiting for master; sleep 1; done\n",
                              host.p, (int)host.n);

    jv resources =
        jobj(a, { "limits", amounts(a, "100m", "64Mi") }, { "requests", amounts(a, "1m", "1Mi") });

    return container(a, jv_get(r->main, S("image")), jv_get(r->main, S("imagePullPolicy")),
                     jv_get(r->main, S("securityContext")), resources, script);
}

static int64_t tries_of(const struct plan_settings *s)
{
    return s->pytorch_init_tries > 0 ? s->pytorch_init_tries : DEFAULT_TRIES;
}

static jv image_container(struct arena *a, const struct plan_settings *s, str host)
{
    str script = arena_printf(a,
                              "i=0\n"
                              "while [ $i -lt %" PRId64 " ]; do\n"
                              "  nslookup %" PRI_STR " && exit 0\n"
                              "  echo waiting for master\n"
                              "  sleep 2\n"
                              "  i=$((i + 1))\n"
                              "done\n"
                              "exit 1\n",
                              tries_of(s), STR_ARG(host));

    jv resources = jobj(a, { "limits", amounts(a, "100m", "20Mi") },
                        { "requests", amounts(a, "50m", "10Mi") });

    return container(a, jstr(a, s->pytorch_init_image), jstrz(a, "IfNotPresent"), JV_ABSENT,
                     resources, script);
}

static void fill(struct buf *b, str text, const struct plan_settings *s, str host)
{
    while (text.n) {
        const char *open = memmem(text.p, text.n, "{{", 2);
        const char *close = open ? memmem(open, (size_t)(text.p + text.n - open), "}}", 2) : NULL;
        if (!close)
            break;
        str name = str_trim((str){ open + 2, (size_t)(close - open - 2) });
        buf_add(b, (str){ text.p, (size_t)(open - text.p) });
        if (str_eqz(name, ".InitContainerImage"))
            buf_add(b, s->pytorch_init_image);
        else if (str_eqz(name, ".MaxTries"))
            buf_printf(b, "%" PRId64, tries_of(s));
        else if (str_eqz(name, ".MasterAddr"))
            buf_add(b, host);
        text = str_sub(text, (size_t)(close + 2 - text.p), text.n);
    }
    buf_add(b, text);
}

/* A list of containers; absent: the template gives none. */
static jv template_containers(struct arena *a, const struct plan_settings *s, str host)
{
    AUTO(buf) struct buf b = { 0 };
    struct yaml_docs docs = { 0 };

    fill(&b, s->pytorch_init_template, s, host);
    if (yaml_parse(a, S("template"), arena_str(a, buf_str(&b)), NULL, &docs, NULL) < 0 || !docs.n)
        return JV_ABSENT;
    return jv_is(docs.at[0].root, JV_ARR) ? docs.at[0].root : JV_ABSENT;
}

bool pytorch_template_is_sound(const struct plan_settings *s)
{
    AUTO(arena) struct arena *a = arena_new();

    return jv_exists(template_containers(a, s, S("job-master-0")));
}

jv pytorch_wait(struct arena *a, const struct job *j, const struct job_role *r, str host, jv spec)
{
    static const struct plan_settings none = { 0 };
    const struct plan_settings *s = j->seen && j->seen->settings ? j->seen->settings : &none;
    jv old = jv_get(spec, S("initContainers"));
    struct jbuild b = jv_is(old, JV_ARR) ? jb_from(a, old) : jb_arr(a);

    jv all = s->pytorch_init_template.n ? template_containers(a, s, host) : JV_ABSENT;

    if (jv_exists(all)) {
        JV_EACH (it, all)
            jb_push(&b, it.value);
    } else if (s->pytorch_init_image.n) {
        jb_push(&b, image_container(a, s, host));
    } else {
        jb_push(&b, own_container(a, r, host));
    }
    return jv_with_key(a, spec, S("initContainers"), jb_done(&b));
}
