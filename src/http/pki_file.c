/* Keys and certificates as PEM files. */

#include "http/pki_x509.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int unusable(struct err *e, const char *path, const char *what)
{
    ERR_clear_error();
    return err_set(e, ERR_IO, "%s: not a %s in PEM format", path, what);
}

int pki_read_key(const char *path, EVP_PKEY **out, struct err *e)
{
    BIO *file = BIO_new_file(path, "r");

    if (!file) {
        ERR_clear_error();
        return err_sys(e, "open %s", path);
    }
    char no_password[1] = ""; /* else it would ask for one */
    *out = PEM_read_bio_PrivateKey(file, NULL, NULL, no_password);
    BIO_free(file);
    return *out ? 0 : unusable(e, path, "private key");
}

int pki_read_cert(const char *path, X509 **out, struct err *e)
{
    BIO *file = BIO_new_file(path, "r");

    if (!file) {
        ERR_clear_error();
        return err_sys(e, "open %s", path);
    }
    *out = PEM_read_bio_X509(file, NULL, NULL, NULL);
    BIO_free(file);
    return *out ? 0 : unusable(e, path, "certificate");
}

static int sync_dir(const char *path, struct err *e)
{
    char dir[PATH_MAX];

    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    int fd = open(dir[0] ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0) {
        err_sys(e, "sync %s", dir);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    close(fd);
    return 0;
}

static int write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -1;
        p += k;
        n -= (size_t)k;
    }
    return fsync(fd);
}

static int replace_file(const char *path, mode_t mode, BIO *text, struct err *e)
{
    char temp[PATH_MAX];
    char *p = NULL;
    long n = BIO_get_mem_data(text, &p);

    if (snprintf(temp, sizeof(temp), "%s.tmp", path) >= (int)sizeof(temp))
        return err_set(e, ERR_IO, "%s: path is too long", path);
    unlink(temp); /* left by a crash; made anew so that its mode is ours */
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return err_sys(e, "create %s", temp);
    if (fchmod(fd, mode) < 0 || write_all(fd, p, (size_t)n) < 0) {
        err_sys(e, "write %s", temp);
        close(fd);
        unlink(temp);
        return -1;
    }
    close(fd);
    if (rename(temp, path) < 0)
        return err_sys(e, "rename %s", temp);
    return sync_dir(path, e);
}

int pki_write_key(const char *path, EVP_PKEY *key, struct err *e)
{
    BIO *text = BIO_new(BIO_s_mem());

    if (!text || PEM_write_bio_PrivateKey(text, key, NULL, NULL, 0, NULL, NULL) != 1)
        abort();
    int rc = replace_file(path, 0600, text, e);
    BIO_free(text);
    return rc;
}

int pki_write_cert(const char *path, X509 *cert, struct err *e)
{
    BIO *text = BIO_new(BIO_s_mem());

    if (!text || PEM_write_bio_X509(text, cert) != 1)
        abort();
    int rc = replace_file(path, 0644, text, e);
    BIO_free(text);
    return rc;
}
