"""A server that forks a process for each job, so that libraries are imported once per run.

The Snakefile starts the server, which ends with Snakemake. `python -m pipeline_py.run JOB` sends it the job, its
folder, environment and output descriptors, and exits with the exit code of the job. Before a fork, the server imports
the modules that earlier jobs have imported; it runs no jobs in its own process.

Jobs with several threads run in separate processes, because libraries read their number of threads at import. So do all
jobs without a server: on systems other than Linux, in another environment, and on cluster nodes.
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
"""Environment variable with the identity of the server (`format_server_identity`)."""

LENGTH_PREFIX_BYTES = 8
"""Number of bytes of the length that precedes a request."""

JOB_STARTED_ANSWER = b"1"
"""First answer of the server after it has started a job; without it, the client runs the job itself."""


def request_job(job_argument: str) -> int | None:
    """Run a job in the server, and wait for its end.

    Returns:
        The exit code of the job; None if no server accepts it.
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
            has_started = connection.recv(1)
        except OSError:
            return None
        if not has_started:
            return None
        answer = _wait_for_answer(connection)
    if not answer:
        print("error: the job server has ended; this job ends too; run it again", file=sys.stderr)
    return answer[0] if answer else 1


def format_server_identity(socket_path: str) -> str:
    """Return the identity of a server with this Python, this code and a socket path."""
    return json.dumps([sys.prefix, os.path.realpath(__file__), socket_path])


def _find_server_socket() -> str | None:
    """Return the socket path of a server with this Python and this code, if there is one."""
    identity = os.environ.get(SERVER_VARIABLE)
    path = json.loads(identity)[-1] if identity else ""
    return path if path and format_server_identity(path) == identity else None


def _wait_for_answer(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1)
    except KeyboardInterrupt:
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1)
    except OSError:
        return b""


class JobServer:
    """A server that runs each requested job in a forked process.

    Args:
        listener: socket for requests.
        run_job: function that runs a job in the forked process.
        lifeline: descriptor whose end ends the server.
    """

    def __init__(self, listener: socket.socket, run_job: Callable[[str], None], lifeline: int) -> None:
        self._listener = listener
        self._run_job = run_job
        self._lifeline = lifeline
        self._selector = selectors.DefaultSelector()
        self._modules_to_import: list[str] = []

    def serve(self) -> None:
        """Run jobs until the lifeline ends."""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background jobs ignore SIGINT
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept_and_start_job)
        self._selector.register(self._lifeline, selectors.EVENT_READ, self._shut_down)
        while True:
            (key, _), *_ = self._selector.select()  # one at a time, since a callback may unregister others
            key.data()

    def _shut_down(self) -> None:
        """Remove the socket and its folder, which a killed Snakemake leaves behind, and end this process."""
        socket_path = self._listener.getsockname()
        with suppress(OSError):
            os.unlink(socket_path)  # noqa: PTH108 (clients import this module and avoid importing pathlib)
            os.rmdir(os.path.dirname(socket_path))  # noqa: PTH106, PTH120
        sys.exit()

    def _accept_and_start_job(self) -> None:
        """Accept a request, fork the process of its job, and register the events of both."""
        connection, _ = self._listener.accept()
        descriptors: list[int] = []
        try:
            length, descriptors, _, _ = socket.recv_fds(connection, LENGTH_PREFIX_BYTES, 2, socket.MSG_WAITALL)
            request = json.loads(connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL))
            self._import_modules()
            report = os.memfd_create("imported")
            process_id = os.fork()
        except (OSError, ValueError):  # the client was killed, or there is not enough memory to fork
            connection.close()
            return
        else:
            if not process_id:
                self._run_in_child(request, descriptors, report)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        with suppress(OSError):
            os.setpgid(process_id, process_id)  # so that it can be interrupted from now on
        with suppress(OSError):
            connection.send(JOB_STARTED_ANSWER)
        handle = os.pidfd_open(process_id)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._interrupt_job(connection, process_id))
        self._selector.register(
            handle, selectors.EVENT_READ, lambda: self._send_exit_code(connection, process_id, handle, report)
        )

    def _import_modules(self) -> None:
        """Import the modules that earlier jobs have imported."""
        for name in self._modules_to_import:
            if name not in sys.modules:
                with suppress(Exception):  # the job that needs the module reports the error
                    import_module(name)
        if self._modules_to_import:
            gc.freeze()
        self._modules_to_import = []

    def _run_in_child(self, request: dict, descriptors: list[int], report_descriptor: int) -> None:
        """Run a job in the forked process, and end it."""
        os.setpgid(0, 0)
        self._selector.close()
        self._listener.close()
        for number, descriptor in enumerate([os.open(os.devnull, os.O_RDONLY), *descriptors]):
            os.dup2(descriptor, number)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        imported_modules = {*sys.modules}

        def run_requested_job() -> None:
            try:
                self._run_job(request["job"])
            finally:
                os.write(
                    report_descriptor,
                    "\n".join(name for name in [*sys.modules] if name not in imported_modules).encode(),
                )

        from pipeline_py.run.command_line import run_and_exit

        run_and_exit(run_requested_job)

    def _interrupt_job(self, connection: socket.socket, process_id: int) -> None:
        """Interrupt a job whose client was interrupted or killed."""
        self._selector.unregister(connection)
        with suppress(ProcessLookupError):
            os.killpg(process_id, signal.SIGINT)

    def _send_exit_code(
        self, connection: socket.socket, process_id: int, process_descriptor: int, report_descriptor: int
    ) -> None:
        """Send the exit code of a finished job to its client."""
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
