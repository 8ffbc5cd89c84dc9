"""A Worker that is a server: `server.py PORT [HABIT]`.

One Worker for each connection. HABIT is how it misbehaves at a `tick`: `half-a-line`, `disconnect`,
`die`, `two-answers`; or `stays`: it does not close the connection after `shutdown`; or `mute`: it
answers nothing.
"""

import json
import os
import socket
import sys
import threading

from well_behaved import Worker


def main(port: int, habit: str) -> None:
    with listener(port) as listening:
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=serve, args=(connection, habit), daemon=True).start()


def listener(port: int) -> socket.socket:
    """Take the port, as soon as a server that was killed has given it up."""
    while True:
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            os.sched_yield()


def serve(connection: socket.socket, habit: str) -> None:
    worker = Worker()
    with connection, connection.makefile("rwb") as stream:
        for line in stream:
            if habit == "mute":
                continue
            call = json.loads(line)
            if call["method"] == "handle" and call["params"]["type"] == "tick":
                misbehave(connection, habit)
            stream.write(json.dumps(answer(worker, call)).encode() + b"\n")
            stream.flush()
            if call["method"] == "shutdown" and habit != "stays":
                return
        if habit == "stays":
            threading.Event().wait()


def answer(worker: Worker, call: dict) -> dict:
    head = {"jsonrpc": "2.0", "id": call["id"]}
    try:
        given = [call["params"]] if "params" in call else []
        return {**head, "result": getattr(worker, call["method"])(*given)}
    except Exception as error:  # noqa: BLE001 - the Worker's own refusal among them
        return {**head, "error": {"code": getattr(error, "code", -32000), "message": str(error)}}


def misbehave(connection: socket.socket, habit: str) -> None:
    if habit == "half-a-line":
        connection.sendall(b'{"jsonrpc": "2.0", "id": 2')
        threading.Event().wait()
    if habit == "disconnect":
        print("the disk is full", file=sys.stderr, flush=True)
        connection.shutdown(socket.SHUT_RDWR)
        raise SystemExit  # of this thread
    if habit == "two-answers":
        connection.sendall(b'{"jsonrpc": "2.0", "id": 2, "result": {"effects": []}}\n' * 2)
    if habit == "die":
        os._exit(7)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
