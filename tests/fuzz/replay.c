/* Runs a fuzz target over every file of its corpus: one TAP line a file. A crash is the failure. */

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    size_t n = 0;
    size_t cap = 0;

    if (!f)
        return -1;
    for (;;) {
        if (n == cap) {
            cap = cap ? cap * 2 : 4096;
            data = realloc(data, cap);
            if (!data)
                abort();
        }
        size_t got = fread(data + n, 1, cap - n, f);
        if (!got)
            break;
        n += got;
    }
    fclose(f);
    uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read past the end */
    if (!exact)
        abort();
    memcpy(exact, data, n);
    free(data);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 0;
}

static int is_file(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int bad = 0;
    int n = argc == 2 ? scandir(argv[1], &names, is_file, alphasort) : -1;

    if (n <= 0) {
        printf("Bail out! no corpus in %s\n", argc == 2 ? argv[1] : "(not given)");
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
        int rc = run(path);
        bad += rc < 0;
        printf("%s %d - %s\n", rc < 0 ? "not ok" : "ok", i + 1, names[i]->d_name);
        fflush(stdout);
        free(names[i]);
    }
    free(names);
    printf("1..%d\n", n);
    return bad != 0;
}
