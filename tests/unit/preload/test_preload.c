/* The preload library from within: this program runs itself again as two pods, "a" and "b", that
 * use the same port. test_preload LIBRARY. */

#include "sockets.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static char hosts[64], services[64];
static char ip_a[16], ip_b[16];
static char port[8];

/* ---- helpers of a pod */

/* What the server there says: "NAME PEER". */
static str ask(struct arena *a, const char *name, const char *service)
{
    char text[128];
    size_t n = 0;
    int fd = dial(name, service);

    if (fd < 0)
        return arena_printf(a, "%s", errno == ECONNREFUSED ? "refused" : "not found");
    for (ssize_t got; n < sizeof(text) && (got = read(fd, text + n, sizeof(text) - n)) > 0;)
        n += (size_t)got;
    close(fd);
    return arena_str(a, (str){ text, n });
}

static str says(struct arena *a, const char *who, const char *peer)
{
    return arena_printf(a, "%s %s", who, peer);
}

/* ---- pod b: serves on wildcards until it is killed */

static void serve(int fd, int udp)
{
    for (;;) {
        struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = udp, .events = POLLIN } };
        char text[128];
        poll(p, 2, -1);
        if (p[0].revents) {
            struct sockaddr_storage s;
            socklen_t n = sizeof(s);
            int c = accept(fd, (struct sockaddr *)&s, &n);
            char name[64];
            gethostname(name, sizeof(name));
            int k = snprintf(text, sizeof(text), "%s %s", name, addr_text(&s));
            if (write(c, text, (size_t)k) < 0)
                _exit(3);
            close(c);
        }
        if (p[1].revents) {
            struct sockaddr_storage s;
            socklen_t n = sizeof(s);
            ssize_t got = recvfrom(udp, text, sizeof(text), 0, (struct sockaddr *)&s, &n);
            int k = snprintf(text, sizeof(text), "udp %d %s", (int)got, addr_text(&s));
            sendto(udp, text, (size_t)k, 0, (struct sockaddr *)&s, n);
        }
    }
}

static int udp_on(const char *ip, int p)
{
    struct sockaddr_in in = v4(ip, p);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&in, sizeof(in)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int pod_b(void)
{
    int fd = listen6("::", atoi(port), 0), udp = udp_on("0.0.0.0", atoi(port));

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fd < 0 || udp < 0) {
        printf("cannot listen: %s\n", strerror(errno));
        return 1;
    }
    printf("ready\n");
    fflush(stdout);
    serve(fd, udp);
    return 0;
}

/* ---- pod a: the tests */

static void two_pods_use_one_port(void)
{
    AUTO(arena) struct arena *a = arena_new();
    int fd = listen4("0.0.0.0", atoi(port));

    if (!ok(fd >= 0, "a wildcard bind of a port that another pod has"))
        return;
    is_str(str_of(local_of(fd)), str_of(ip_a), "is the pod's own address");
    is_str(ask(a, "b", port), says(a, "b", ip_a), "b answers by its name and sees our address");
    is_str(ask(a, "b.d.svc.cluster.local", port), says(a, "b", ip_a), "by its longest name");
    is_str(ask(a, "B.d.SVC.", port), says(a, "b", ip_a), "in any case, and with the root's dot");
    is_str(ask(a, ip_b, port), says(a, "b", ip_a), "by its address");
    ok(listen4("0.0.0.0", atoi(port)) < 0 && errno == EADDRINUSE, "in the pod it is taken");
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(fd, -1);
    }
    is_str(ask(a, "localhost", port), says(a, "a", ip_a), "localhost is the pod");
    is_str(ask(a, "127.0.0.1", port), says(a, "a", ip_a), "in numbers, too");
    is_str(ask(a, "::1", port), says(a, "a", ip_a), "and in IPv6");
    is_str(ask(a, "0.0.0.0", port), says(a, "a", ip_a), "and the wildcard");
    is_str(ask(a, "a", port), says(a, "a", ip_a), "as is its name");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fd);
    is_str(ask(a, "localhost", port), S("refused"), "and nobody else's is reached by localhost");
    fd = listen4("127.0.0.1", atoi(port));
    is_str(str_of(local_of(fd)), str_of(ip_a), "a server on localhost is on the pod's");
    close(fd);
}

static void ipv6_sockets_take_ipv4(void)
{
    int fd = listen6("::", atoi(port), 0);

    is_str(str_of(local_of(fd)), str_of(ip_a), "an IPv6 wildcard is at the pod's IPv4 address");
    int c = dial("a", port);
    ok(c >= 0, "and is reached there");
    close(c);
    close(fd);
    fd = listen4("0.0.0.0", atoi(port));
    int only = listen6("::", atoi(port), 1);
    ok(fd >= 0 && only >= 0, "one for each family, as some servers do");
    is_int(port_of(only), atoi(port), "says what it was asked for");
    is_str(str_of(local_of(only)), S("::"), "and where");
    int lo = listen6("::1", atoi(port), 0);
    ok(lo >= 0, "::1 beside 127.0.0.1");
    close(lo);
    close(only);
    close(fd);
    lo = listen6("::1", atoi(port), 0);
    is_str(str_of(local_of(lo)), str_of(ip_a), "::1 alone is the pod's");
    close(lo);
    struct sockaddr_in6 in6 = v6("::ffff:127.0.0.1", atoi(port));
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ok(connect(fd, (struct sockaddr *)&in6, sizeof(in6)) < 0 && errno == ECONNREFUSED,
       "a mapped localhost is the pod's, too");
    close(fd);
}

static void any_port_stays_a_wildcard(void)
{
    int fd = listen4("0.0.0.0", 0), c;
    char text[16];

    is_str(str_of(local_of(fd)), S("0.0.0.0"), "a wildcard without a port stays one");
    snprintf(text, sizeof(text), "%d", port_of(fd));
    c = dial("a", text);
    ok(c >= 0, "and is reached by the pod's name");
    close(c);
    close(fd);
    fd = listen4("127.0.0.1", 0);
    is_str(str_of(local_of(fd)), str_of(ip_a), "localhost without a port does not");
    close(fd);
}

static void services_lead_to_pods(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(ask(a, "10.96.0.7", "80"), says(a, "b", ip_a), "a ClusterIP leads to what is behind it");
    is_str(ask(a, "10.96.0.7", "81"), S("refused"), "but not by another port");
    is_str(ask(a, "10.96.0.8", "80"), S("refused"), "nor where nothing is");
    is_str(ask(a, "svc", "80"), says(a, "b", ip_a), "its name, too");
    int fd = dial("svc", "80");
    is_str(str_of(peer_of(fd)), str_of(ip_b), "it is the pod that we talk to");
    close(fd);
}

static str udp_answer(struct arena *a, int fd)
{
    char text[128];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    ssize_t n = poll(&p, 1, 30000) == 1 ? recv(fd, text, sizeof(text), 0) : -1;

    return arena_str(a, (str){ text, n > 0 ? (size_t)n : 0 });
}

static void datagrams_find_their_way(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct sockaddr_in to = v4(ip_b, atoi(port)), svc = v4("10.96.0.7", 53);
    char bytes[] = "12345";
    struct iovec io = { bytes, 5 };
    struct msghdr m = {
        .msg_name = &svc, .msg_namelen = sizeof(svc), .msg_iov = &io, .msg_iovlen = 1
    };
    struct mmsghdr mm[2] = { { .msg_hdr = m }, { .msg_hdr = m } };
    str want = arena_printf(a, "udp 5 %s", ip_a);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    is_int(sendto(fd, "12345", 5, 0, (struct sockaddr *)&to, sizeof(to)), 5, "sendto");
    is_str(udp_answer(a, fd), want, "comes from the pod's address");
    is_int(sendmsg(fd, &m, 0), 5, "sendmsg to a service");
    is_str(udp_answer(a, fd), want, "comes to a pod");
    ok(m.msg_name == &svc && svc.sin_port == htons(53), "and leaves the message as it was");
    is_int(sendmmsg(fd, mm, 2, 0), 2, "sendmmsg");
    is_str(udp_answer(a, fd), want, "sends one");
    is_str(udp_answer(a, fd), want, "and another");
    is_int(mm[1].msg_len, 5, "and says how much");
    close(fd);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    is_int(connect(fd, (struct sockaddr *)&svc, sizeof(svc)), 0, "connected to a service");
    is_int(send(fd, "1", 1, 0), 1, "send");
    is_str(udp_answer(a, fd), arena_printf(a, "udp 1 %s", ip_a), "is answered");
    close(fd);
}

static void names_have_addresses(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct addrinfo hints = { .ai_flags = AI_CANONNAME | AI_ADDRCONFIG }, *list = NULL;
    char host[256], service[32];
    int n = 0;

    is_int(getaddrinfo("both", "80", &hints, &list), 0, "a name with two addresses");
    for (struct addrinfo *at = list; at; at = at->ai_next)
        n += at->ai_socktype == SOCK_STREAM && at->ai_family == AF_INET &&
             ((struct sockaddr_in *)(void *)at->ai_addr)->sin_port == htons(80);
    is_int(n, 2, "has both");
    is_str(str_of(list->ai_canonname), S("both.d.svc.cluster.local"), "and its longest name");
    freeaddrinfo(list);
    hints = (struct addrinfo){ .ai_family = AF_INET6 };
    ok(getaddrinfo("b", NULL, &hints, &list) != 0, "none in IPv6");
    hints.ai_flags = AI_V4MAPPED;
    is_int(getaddrinfo("b", NULL, &hints, &list), 0, "unless mapped ones will do");
    freeaddrinfo(list);
    is_int(getaddrinfo("nobody.d.svc", "80", NULL, &list), EAI_NONAME, "unknown ones are unknown");
    is_int(getaddrinfo("b", "no-such-service", NULL, &list), EAI_SERVICE, "services, too");
    is_int(getaddrinfo("localhost", "80", NULL, &list), 0, "localhost is libc's");
    freeaddrinfo(list);
    ok(getaddrinfo("nobody-has-this", "80", NULL, &list) != 0,
       "names without a dot may be nobody's");
    is_int(getaddrinfo("2130706433", "80", NULL, &list), 0, "but not if they are numbers");
    freeaddrinfo(list);

    struct hostent *h = gethostbyname("both");
    ok(h && h->h_length == 4 && h->h_addr_list[0] && h->h_addr_list[1] && !h->h_addr_list[2],
       "gethostbyname");
    ok(!gethostbyname("nobody.d.svc") && h_errno == HOST_NOT_FOUND, "gives nothing for nobody");
    ok(gethostbyname2("b", AF_INET) && !gethostbyname2("b", AF_INET6), "gethostbyname2");
    struct in_addr ip;
    inet_pton(AF_INET, ip_b, &ip);
    h = gethostbyaddr(&ip, sizeof(ip), AF_INET);
    is_str(str_of(h ? h->h_name : ""), S("b.d.svc.cluster.local"), "gethostbyaddr");
    struct hostent own, *got = NULL;
    int why = 0, r;
    size_t size = 1;
    char *buf = NULL;
    do {
        buf = realloc(buf, size *= 2);
        r = gethostbyname_r("both", &own, buf, size, &got, &why);
    } while (r == ERANGE && size < 65536);
    ok(r == 0 && got == &own && own.h_addr_list[1], "gethostbyname_r, once there is room");
    free(buf);
    struct sockaddr_in in = v4(ip_b, 80);
    is_int(getnameinfo((struct sockaddr *)&in, sizeof(in), host, sizeof(host), service,
                       sizeof(service), NI_NUMERICSERV),
           0, "getnameinfo");
    is_str(arena_printf(a, "%s %s", host, service), S("b.d.svc.cluster.local 80"), "has both");
    is_int(getnameinfo((struct sockaddr *)&in, sizeof(in), host, 4, NULL, 0, 0), EAI_OVERFLOW,
           "or no room");
    getnameinfo((struct sockaddr *)&in, sizeof(in), host, sizeof(host), NULL, 0, NI_NUMERICHOST);
    is_str(str_of(host), str_of(ip_b), "numbers when asked for");
}

static void it_knows_itself(void)
{
    char name[256];
    struct utsname u;
    struct ifaddrs *list = NULL;
    int others = 0, mine = 0;

    gethostname(name, sizeof(name));
    is_str(str_of(name), S("a"), "its host name");
    ok(gethostname(name, 1) < 0 && errno == ENAMETOOLONG, "that has to fit");
    uname(&u);
    is_str(str_of(u.nodename), S("a"), "in uname, too");
    getifaddrs(&list);
    for (struct ifaddrs *at = list; at; at = at->ifa_next) {
        if (!at->ifa_addr || (at->ifa_flags & IFF_LOOPBACK))
            continue;
        char text[INET_ADDRSTRLEN] = "";
        if (at->ifa_addr->sa_family == AF_INET)
            inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr, text,
                      sizeof(text));
        if (at->ifa_addr->sa_family == AF_INET6 || (text[0] && strcmp(text, ip_a) != 0))
            others++;
        mine += strcmp(text, ip_a) == 0;
    }
    freeifaddrs(list);
    ok(others == 0 && mine <= 1, "its interface has its address alone");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in out = v4("192.0.2.1", 9);
    if (connect(fd, (struct sockaddr *)&out, sizeof(out)) == 0)
        is_str(str_of(local_of(fd)), str_of(ip_a), "and so has a socket to the outside");
    close(fd);
}

/* One that is in no pod: main's. */
static void proxies_of_the_machine_are_reached(void)
{
    const char *text = getenv("PROXY_PORT");
    struct sockaddr_in in = v4("127.0.0.1", atoi(text ? text : "0"));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ok(connect(fd, (struct sockaddr *)&in, sizeof(in)) == 0, "a proxy on the machine's localhost");
    close(fd);
}

/* ---- threads, while the file changes */

static atomic_bool stop;
static atomic_int wrong_answers;

static void *resolver(void *arg)
{
    (void)arg;
    while (!stop) {
        struct addrinfo *list = NULL;
        struct hostent h, *got = NULL;
        char buf[2048];
        int why;
        wrong_answers += getaddrinfo("b", "1", NULL, &list) != 0;
        if (list)
            freeaddrinfo(list);
        gethostbyname_r("both", &h, buf, sizeof(buf), &got, &why);
        wrong_answers += !got || !got->h_addr_list[1];
    }
    return NULL;
}

static void threads_ask_while_names_change(void)
{
    pthread_t t[4];
    FILE *f = fopen(hosts, "ae");

    for (size_t i = 0; i < COUNT(t); i++)
        pthread_create(&t[i], NULL, resolver, NULL);
    for (int i = 0; i < 300; i++) {
        fprintf(f, "10.0.0.1 new-%d.d.svc.cluster.local new-%d\n", i, i);
        fflush(f);
        char name[32];
        struct addrinfo *list = NULL;
        snprintf(name, sizeof(name), "new-%d", i);
        if (getaddrinfo(name, NULL, NULL, &list) != 0)
            wrong_answers++;
        else
            freeaddrinfo(list);
    }
    stop = true;
    for (size_t i = 0; i < COUNT(t); i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 5000; i++) /* a line longer than any that is sound */
        fputs("garbage ", f);
    fputs("\n\n   \n10.0.0.2\n:: nonsense\n10.0.0.3 last\n", f);
    fclose(f);
    struct addrinfo *list = NULL;
    is_int(wrong_answers, 0, "all of them right");
    is_int(getaddrinfo("last", NULL, NULL, &list), 0, "behind lines that are no lines, too");
    if (list)
        freeaddrinfo(list);
}

static int pod_a(void)
{
    two_pods_use_one_port();
    ipv6_sockets_take_ipv4();
    any_port_stays_a_wildcard();
    services_lead_to_pods();
    datagrams_find_their_way();
    names_have_addresses();
    it_knows_itself();
    proxies_of_the_machine_are_reached();
    threads_ask_while_names_change();
    return tap_done();
}

/* ---- outside */

static pid_t pod(const char *lib, const char *name, const char *ip, int out)
{
    pid_t pid = fork();
    char proxy[64];

    if (pid != 0)
        return pid;
    if (out >= 0)
        dup2(out, 1);
    snprintf(proxy, sizeof(proxy), "http://me@localhost:%s/", getenv("PROXY_PORT"));
    setenv("LD_PRELOAD", lib, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    setenv("MUSTER_POD_IP", ip, 1);
    setenv("MUSTER_POD_HOSTNAME", name, 1);
    setenv("MUSTER_HOSTS", hosts, 1);
    setenv("MUSTER_SERVICES", services, 1);
    setenv("https_proxy", proxy, 1);
    execl("/proc/self/exe", "test_preload", name, ip_a, ip_b, port, (char *)NULL);
    _exit(127);
}

static void write_files(void)
{
    FILE *f = fopen(hosts, "we");
    FILE *s = fopen(services, "we");

    fprintf(f, "# comment %s b\n127.0.0.1 localhost\n", ip_a);
    fprintf(f, "%s b.d.svc.cluster.local b.d.svc b.d b      \n", ip_b);
    fprintf(f, "%s both.d.svc.cluster.local both\n%s both.d.svc.cluster.local both\n", ip_a, ip_b);
    fprintf(f, "10.96.0.7 svc.d.svc.cluster.local svc\n");
    fprintf(s, "tcp 10.96.0.7 80 %s:%s\nudp 10.96.0.7 53 %s:%s\ntcp 10.96.0.8 80\n", ip_b, port,
            ip_b, port);
    fclose(f);
    fclose(s);
}

/* The library without a pod: as if it were not there. */
static int nobody(void)
{
    char name[256] = "";
    int fd = listen4("0.0.0.0", 0), lo = listen4("127.0.0.1", 0);

    gethostname(name, sizeof(name));
    return strcmp(local_of(fd), "0.0.0.0") != 0 || strcmp(local_of(lo), "127.0.0.1") != 0 ||
           strcmp(name, "a") == 0 || !name[0];
}

int main(int argc, char **argv)
{
    if (argc == 5) {
        snprintf(ip_a, sizeof(ip_a), "%s", argv[2]);
        snprintf(ip_b, sizeof(ip_b), "%s", argv[3]);
        snprintf(port, sizeof(port), "%s", argv[4]);
        snprintf(hosts, sizeof(hosts), "%s", getenv("MUSTER_HOSTS") ? getenv("MUSTER_HOSTS") : "");
        return argv[1][0] == 'a' ? pod_a() : argv[1][0] == 'b' ? pod_b() : nobody();
    }
    char dir[] = "/tmp/muster-preload-XXXXXX";
    int out[2], status = -1;
    char text[64] = "";
    unsigned r = (unsigned)getpid() * 2654435761u;

    if (argc != 2 || !mkdtemp(dir) || pipe2(out, O_CLOEXEC) < 0)
        return 1;
    snprintf(hosts, sizeof(hosts), "%s/hosts", dir);
    snprintf(services, sizeof(services), "%s/services", dir);
    snprintf(ip_a, sizeof(ip_a), "127.%u.%u.2", 64 + r % 190, r >> 8 & 0xff);
    snprintf(ip_b, sizeof(ip_b), "127.%u.%u.3", 64 + r % 190, r >> 8 & 0xff);
    int proxy = listen4("127.0.0.1", 0), probe = listen4("0.0.0.0", 0);
    snprintf(port, sizeof(port), "%d", port_of(probe));
    close(probe); /* nobody has it, on any address */
    snprintf(text, sizeof(text), "%d", port_of(proxy));
    setenv("PROXY_PORT", text, 1);
    write_files();
    pid_t none = pod(argv[1], "nobody", "", -1);
    if (waitpid(none, &status, 0) < 0 || status != 0) {
        printf("Bail out! in no pod, something was changed\n");
        return 1;
    }
    pid_t b = pod(argv[1], "b", ip_b, out[1]);
    close(out[1]);
    if (read(out[0], text, sizeof(text)) <= 0 || strncmp(text, "ready", 5) != 0) {
        printf("Bail out! pod b: %s\n", text);
        return 1;
    }
    pid_t a = pod(argv[1], "a", ip_a, -1);
    waitpid(a, &status, 0);
    kill(b, SIGKILL);
    waitpid(b, NULL, 0);
    unlink(hosts);
    unlink(services);
    rmdir(dir);
    close(proxy);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
