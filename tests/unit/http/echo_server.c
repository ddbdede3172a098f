/* The fixture as a program, for curl, h2load and other clients: prints its port and the directory
 * of its certificates, and runs until SIGTERM or the end of its input. */

#include "fixture.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
    struct fixture *f = fixture_start((struct http_limits){ 0 });
    char c = 0;

    printf("%d %s\n", fixture_port(f), fixture_dir(f));
    fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    fixture_stop(f, 1000);
    return 0;
}
