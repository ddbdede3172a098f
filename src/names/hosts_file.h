/* A hosts file that is changed line by line under the eyes of its readers. It is bound into pods,
 * so it is never replaced; each line comes and goes by one byte ('#' or not), so that none is ever
 * seen torn, and those that stay are never touched. */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct names_file;

/* What another has left of the same head is taken over. head: fixed lines, each with its newline.
 */
struct names_file *names_file_open(const char *path, str head, struct err *e);
void names_file_close(struct names_file *f); /* leaves the file */

/* In memory until names_file_write: added lines are shown before dropped ones are hidden. A line
 * that is there already is added once. now_ms: of any clock that goes on. */
void names_file_add(struct names_file *f, str line);
void names_file_drop(struct names_file *f, str line);
bool names_file_has(const struct names_file *f, str line);
/* Drops what was taken over and has not been added again. */
void names_file_drop_old(struct names_file *f);
int names_file_write(struct names_file *f, int64_t now_ms, struct err *e);
const char *names_file_path(const struct names_file *f);
