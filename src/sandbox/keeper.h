/* `muster warden DIR [FD]` (or one forked by the nursery): holds the pod that DIR/sandbox
 * describes until it is ended. FD is a connection to the node that starts it; others come through
 * DIR/ctl. Returns an exit status. */
#pragma once

int warden_main(int argc, char **argv); /* argv[0] is "warden" */
