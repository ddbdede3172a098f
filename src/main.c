/* Wires the rooms together: picks the command and hands it what it needs. */

#include <stdio.h>

int main(void)
{
    puts("muster " MUSTER_VERSION);
    return 0;
}
