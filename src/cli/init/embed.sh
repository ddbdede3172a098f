#!/bin/sh
# The files as C: embed.sh FILE... >OUT.c
set -eu
echo '#include "cli/init.h"'
echo
echo 'const struct init_file init_files[] = {'
for file; do
    printf '    { "%s",\n      S_INIT(\n' "${file##*/}"
    sed -e 's/[\\"]/\\&/g' -e 's/^/        "/' -e 's/$/\\n"/' "$file"
    echo '      ) },'
done
echo '    { NULL, { NULL, 0 } },'
echo '};'
