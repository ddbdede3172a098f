/* Sockets for tests: made, dialled and asked who they are. */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in v4(const char *ip, int p)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)p) };

    inet_pton(AF_INET, ip, &in.sin_addr);
    return in;
}

static struct sockaddr_in6 v6(const char *ip, int p)
{
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)p) };

    inet_pton(AF_INET6, ip, &in6.sin6_addr);
    return in6;
}

static int listen4(const char *ip, int p)
{
    struct sockaddr_in in = v4(ip, p);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&in, sizeof(in)) == 0 && listen(fd, 64) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int listen6(const char *ip, int p, int only)
{
    struct sockaddr_in6 in6 = v6(ip, p);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
    if (bind(fd, (struct sockaddr *)&in6, sizeof(in6)) == 0 && listen(fd, 64) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static const char *addr_text(const struct sockaddr_storage *s)
{
    static char text[INET6_ADDRSTRLEN];

    if (s->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)s)->sin_addr, text, sizeof(text));
    else
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)s)->sin6_addr, text, sizeof(text));
    return strncmp(text, "::ffff:", 7) == 0 ? text + 7 : text;
}

static const char *local_of(int fd)
{
    struct sockaddr_storage s = { 0 };
    socklen_t n = sizeof(s);

    return getsockname(fd, (struct sockaddr *)&s, &n) < 0 ? "?" : addr_text(&s);
}

static int port_of(int fd)
{
    struct sockaddr_storage s = { 0 };
    socklen_t n = sizeof(s);

    getsockname(fd, (struct sockaddr *)&s, &n);
    return ntohs(s.ss_family == AF_INET ? ((struct sockaddr_in *)&s)->sin_port
                                        : ((struct sockaddr_in6 *)&s)->sin6_port);
}

static const char *peer_of(int fd)
{
    struct sockaddr_storage s = { 0 };
    socklen_t n = sizeof(s);

    return getpeername(fd, (struct sockaddr *)&s, &n) < 0 ? "?" : addr_text(&s);
}

static int dial(const char *name, const char *service)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    int fd = -1;

    if (getaddrinfo(name, service, &hints, &list) != 0) {
        errno = ENOENT;
        return -1;
    }
    for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, at->ai_addr, at->ai_addrlen) < 0) {
            int why = errno;
            close(fd);
            errno = why;
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}
