"""Start the process that runs the jobs of this machine as copies of itself (`pipeline_py/run/job_server.py`)."""

import socket
import subprocess
import tempfile
from contextlib import suppress

from pipeline_py.run.job_server import SERVER_VARIABLE, format_server_identity


def start_job_server():
    """Start the server for a run that executes jobs on this machine, unless its variable is set and empty."""
    if (
        not workflow.is_main_process
        or workflow.nodes is not None
        or os.environ.get(SERVER_VARIABLE) == ""
        or not hasattr(os, "pidfd_open")
    ):
        return
    folder = tempfile.TemporaryDirectory(prefix="arbitree.", ignore_cleanup_errors=True)
    path = os.path.join(folder.name, "jobs")
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):  # the path is too long: jobs start themselves
        listener.bind(path)
        listener.listen()
        command = [sys.executable, "-m", "pipeline_py.run.job_server", str(listener.fileno())]
        variables = {**os.environ, "OMP_NUM_THREADS": "1"}
        server = subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, pass_fds=[listener.fileno()], start_new_session=True
        )
        os.environ[SERVER_VARIABLE] = format_server_identity(path)
        workflow.job_server = server, folder  # keeps both alive during the run
