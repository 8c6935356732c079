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

SERVER_VARIABLE = "ARBITREE_JOB_SERVER"
"""The environment variable with the identity of the server (`format_server_identity`)."""

LENGTH_PREFIX_BYTES = 8
"""Bytes of the number that precedes a request, its length."""

JOB_STARTED_ANSWER = b"1"
"""The first answer of the server, once it has begun a job; without it, the starter runs the job itself."""


def request_job(job_argument: str) -> int | None:
    """Let the server run a job, and wait for its end.

    Returns:
        The exit code of the job; None if no server takes it.
    """
    path = _find_server_socket()
    if path is None or os.environ.get("OMP_NUM_THREADS", "1") != "1":
        return None
    request = json.dumps({"job": job_argument, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()  # noqa: PTH109
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            socket.send_fds(connection, [len(request).to_bytes(LENGTH_PREFIX_BYTES, "big")], [1, 2])
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


def format_server_identity(socket_path: str) -> str:
    """Return the value of the variable for a server with this Python, this code and a socket at a path."""
    return json.dumps([sys.prefix, os.path.realpath(__file__), socket_path])


def _find_server_socket() -> str | None:
    """Return the path of the socket of a server with this Python and this code, if there is one."""
    described = os.environ.get(SERVER_VARIABLE)
    path = json.loads(described)[-1] if described else ""
    return path if path and format_server_identity(path) == described else None


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

    def __init__(self, listener: socket.socket, run_job: Callable[[str], None], lifeline: int) -> None:
        self._listener = listener
        self._run_job = run_job
        self._lifeline = lifeline
        self._selector = selectors.DefaultSelector()
        self._modules_to_import: list[str] = []

    def serve(self) -> None:
        """Run jobs until the lifeline ends."""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell has a run in the background ignore
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept_request)
        self._selector.register(self._lifeline, selectors.EVENT_READ, self._shut_down)
        while True:
            (key, _), *_ = self._selector.select()  # one at a time, since it may unregister others
            key.data()

    def _shut_down(self) -> None:
        """End this process; a Snakemake that was killed has not removed the socket and its folder."""
        socket_path = self._listener.getsockname()
        with suppress(OSError):
            os.unlink(socket_path)  # noqa: PTH108 (starters import this module, and do without pathlib)
            os.rmdir(os.path.dirname(socket_path))  # noqa: PTH106, PTH120
        sys.exit()

    def _accept_request(self) -> None:
        connection, _ = self._listener.accept()
        descriptors: list[int] = []
        try:
            length, descriptors, _, _ = socket.recv_fds(connection, LENGTH_PREFIX_BYTES, 2, socket.MSG_WAITALL)
            call = json.loads(connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL))
            self._import_modules()
            report = os.memfd_create("imported")
            process = os.fork()
        except (OSError, ValueError):  # the starter was killed, or the machine has no room for a copy
            connection.close()
            return
        else:
            if not process:
                self._run_in_child(call, descriptors, report)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        with suppress(OSError):
            os.setpgid(process, process)  # so that it can be interrupted from now on
        with suppress(OSError):
            connection.send(JOB_STARTED_ANSWER)
        handle = os.pidfd_open(process)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._interrupt_job(connection, process))
        self._selector.register(
            handle, selectors.EVENT_READ, lambda: self._send_exit_code(connection, process, handle, report)
        )

    def _import_modules(self) -> None:
        """Import what jobs have imported, which then takes no time in the next ones."""
        for name in self._modules_to_import:
            if name not in sys.modules:
                with suppress(Exception):  # the job that needs it says what is wrong
                    import_module(name)
        if self._modules_to_import:
            gc.freeze()
        self._modules_to_import = []

    def _run_in_child(self, request: dict, descriptors: list[int], report_descriptor: int) -> None:
        """Become the process of a job."""
        os.setpgid(0, 0)
        self._selector.close()
        self._listener.close()
        for number, descriptor in enumerate([os.open(os.devnull, os.O_RDONLY), *descriptors]):
            os.dup2(descriptor, number)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        before = {*sys.modules}

        def run_requested_job() -> None:
            try:
                self._run_job(request["job"])
            finally:
                os.write(report_descriptor, "\n".join(name for name in [*sys.modules] if name not in before).encode())

        from pipeline_py.run.command_line import run_and_exit

        run_and_exit(run_requested_job)

    def _interrupt_job(self, connection: socket.socket, process_id: int) -> None:
        """End a job whose starter was interrupted or killed."""
        self._selector.unregister(connection)
        with suppress(ProcessLookupError):
            os.killpg(process_id, signal.SIGINT)

    def _send_exit_code(
        self, connection: socket.socket, process_id: int, process_descriptor: int, report_descriptor: int
    ) -> None:
        """Tell the starter how its job has ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1])
        self._modules_to_import += os.pread(report_descriptor, os.fstat(report_descriptor).st_size, 0).decode().split()
        self._selector.unregister(process_descriptor)
        with suppress(KeyError):
            self._selector.unregister(connection)
        with connection, suppress(OSError):
            connection.send(bytes([128 - code if code < 0 else code]))
        os.close(process_descriptor)
        os.close(report_descriptor)


if __name__ == "__main__":
    from pipeline_py.run.__main__ import run_job_argument

    JobServer(socket.socket(fileno=int(sys.argv[1])), run_job_argument, sys.stdin.fileno()).serve()
