import os, socket, time


def connect(address):
    while True:
        try:
            return socket.create_connection(address)
        except OSError:  # the master does not listen yet
            time.sleep(0.05)


rank, port = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
if rank == 0:
    server = socket.create_server(("", port))
    print("listening", flush=True)
    peers = [server.accept() for _ in range(2)]
else:
    peer = connect((os.environ["MASTER_ADDR"], port))
    print("connected", flush=True)
    peer.recv(1)
