"""A process that runs jobs as copies of itself, so that a run imports its libraries once and not in every job.

Snakemake starts the server beside itself. `python -m pipeline_py.run JOB` gives it the job, its folder, environment and
output, and ends as the copy does. Before it makes a copy, the server imports what jobs before have imported; it runs
none of them itself. It ends with Snakemake.

A job of several threads is a process of its own, because libraries read their number of threads at import. So is every
job where there is no server: on other systems than Linux, in another environment, on nodes of a cluster.
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

ADDRESS = "ARBITREE_JOB_SERVER"
"""The environment variable with the identity of the server (`describe_server`)."""

LENGTH_BYTES = 8
"""Bytes of the number that precedes a request, its length."""

BEGUN = b"1"
"""The first answer of the server, once it has begun a job; without it, the starter runs the job itself."""


def request_job(job: str) -> int | None:
    """Let the server run a job, and wait for its end.

    Returns:
        The exit code of the job; None if no server takes it.
    """
    path = _find_server()
    if path is None or os.environ.get("OMP_NUM_THREADS", "1") != "1":
        return None
    request = json.dumps({"job": job, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()  # noqa: PTH109
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            socket.send_fds(connection, [len(request).to_bytes(LENGTH_BYTES, "big")], [1, 2])
            connection.sendall(request)
            is_begun = connection.recv(1)
        except OSError:
            return None
        if not is_begun:
            return None
        answer = _wait_for_answer(connection)
    if not answer:
        print("error: the server of jobs has ended, and with it this job; run it again", file=sys.stderr)
    return answer[0] if answer else 1


def describe_server(path: str) -> str:
    """Return the value of the variable for a server with this Python, this code and a socket at a path."""
    return json.dumps([sys.prefix, os.path.realpath(__file__), path])


def _find_server() -> str | None:
    """Return the path of the socket of a server with this Python and this code, if there is one."""
    described = os.environ.get(ADDRESS)
    path = json.loads(described)[-1] if described else ""
    return path if path and describe_server(path) == described else None


def _wait_for_answer(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1)
    except KeyboardInterrupt:
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1)
    except OSError:
        return b""


class JobServer:
    """Runs the jobs of requests.

    Args:
        listener: the socket that requests arrive at.
        run: runs a job in the copy.
        lifeline: a descriptor that ends when the server is to end.
    """

    def __init__(self, listener: socket.socket, run: Callable[[str], None], lifeline: int) -> None:
        self._listener = listener
        self._run = run
        self._lifeline = lifeline
        self._selector = selectors.DefaultSelector()
        self._imported: list[str] = []

    def serve(self) -> None:
        """Run jobs until the lifeline ends."""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell has a run in the background ignore
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._lifeline, selectors.EVENT_READ, self._end)
        while True:
            (key, _), *_ = self._selector.select()  # one at a time, since it may unregister others
            key.data()

    def _end(self) -> None:
        """End this process; a Snakemake that was killed has not removed the socket and its folder."""
        socket_path = self._listener.getsockname()
        with suppress(OSError):
            os.unlink(socket_path)  # noqa: PTH108 (starters import this module, and do without pathlib)
            os.rmdir(os.path.dirname(socket_path))  # noqa: PTH106, PTH120
        sys.exit()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        descriptors: list[int] = []
        try:
            length, descriptors, _, _ = socket.recv_fds(connection, LENGTH_BYTES, 2, socket.MSG_WAITALL)
            call = json.loads(connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL))
            self._import()
            report = os.memfd_create("imported")
            process = os.fork()
        except (OSError, ValueError):  # the starter was killed, or the machine has no room for a copy
            connection.close()
            return
        else:
            if not process:
                self._begin(call, descriptors, report)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        with suppress(OSError):
            os.setpgid(process, process)  # so that it can be interrupted from now on
        with suppress(OSError):
            connection.send(BEGUN)
        handle = os.pidfd_open(process)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._interrupt(connection, process))
        self._selector.register(handle, selectors.EVENT_READ, lambda: self._answer(connection, process, handle, report))

    def _import(self) -> None:
        """Import what jobs have imported, which then takes no time in the next ones."""
        for name in self._imported:
            if name not in sys.modules:
                with suppress(Exception):  # the job that needs it says what is wrong
                    import_module(name)
        if self._imported:
            gc.freeze()
        self._imported = []

    def _begin(self, call: dict, descriptors: list[int], report: int) -> None:
        """Become the process of a job."""
        os.setpgid(0, 0)
        self._selector.close()
        self._listener.close()
        for number, descriptor in enumerate([os.open(os.devnull, os.O_RDONLY), *descriptors]):
            os.dup2(descriptor, number)
        os.chdir(call["folder"])
        os.environ.clear()
        os.environ.update(call["environment"])
        before = {*sys.modules}

        def work() -> None:
            try:
                self._run(call["job"])
            finally:
                os.write(report, "\n".join(name for name in [*sys.modules] if name not in before).encode())

        from pipeline_py.run.command import end_after

        end_after(work)

    def _interrupt(self, connection: socket.socket, process: int) -> None:
        """End a job whose starter was interrupted or killed."""
        self._selector.unregister(connection)
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGINT)

    def _answer(self, connection: socket.socket, process: int, handle: int, report: int) -> None:
        """Tell the starter how its job has ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        self._imported += os.pread(report, os.fstat(report).st_size, 0).decode().split()
        self._selector.unregister(handle)
        with suppress(KeyError):
            self._selector.unregister(connection)
        with connection, suppress(OSError):
            connection.send(bytes([128 - code if code < 0 else code]))
        os.close(handle)
        os.close(report)


if __name__ == "__main__":
    from pipeline_py.run.__main__ import run_call

    JobServer(socket.socket(fileno=int(sys.argv[1])), run_call, sys.stdin.fileno()).serve()
