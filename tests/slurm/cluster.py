"""A SLURM cluster on this machine: one node with two processors and two fake GPUs; it does not need root.

python -m tests.slurm.cluster FOLDER COMMAND…

starts it with all its files in FOLDER, runs a command that uses it, and stops it. Nothing outside FOLDER changes.
"""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

SLURM_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "squeue", "scontrol", "sinfo")
MAX_WAIT_SECONDS = 30
"""Seconds until a node is ready, or a daemon has ended."""

# The memory is made up, and the cards are files: a node that takes jobs as a large one would, and computes as this one.
CONFIGURATION_TEMPLATE = """\
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort={slurmctld_port}
SlurmdPort={slurmd_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=5
MinJobAge=86400
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 Sockets=2 CoresPerSocket=1 RealMemory=64000 Gres=gpu:2
PartitionName=common Nodes=node Default=YES PriorityTier=1
PartitionName=urgent Nodes=node PriorityTier=2
"""


def list_missing_programs() -> list[str]:
    """Return the programs of SLURM that are not installed."""
    return [program for program in SLURM_PROGRAMS if find_program(program) is None]


def find_program(program: str) -> str | None:
    """Return the path of a program; daemons may be in folders that only root's PATH contains."""
    return shutil.which(program, path=os.pathsep.join([*os.get_exec_path(), "/usr/local/sbin", "/usr/sbin"]))


class SlurmCluster:
    """The daemons of a cluster, which run within the context, and queries to them."""

    def __init__(self, folder: Path) -> None:
        """Set the folder of all files, which is created. A socket in it must have a path of at most 107 bytes."""
        self.folder = folder.absolute()
        self.environment = {
            "SLURM_CONF": f"{self.folder}/slurm.conf",
            "PATH": os.pathsep.join([f"{self.folder}/bin", *os.get_exec_path()]),
        }
        self._daemons = ExitStack()

    def __enter__(self) -> "SlurmCluster":
        """Start the daemons and wait until the node takes jobs."""
        with self._daemons as daemons:
            self._write_files()
            key_option, socket_option = f"--key-file={self.folder}/munge.key", f"--socket={self.folder}/munge.socket"
            file_options = [f"--{name}-file={self.folder}/munged.{name}" for name in ("pid", "log", "seed")]
            self._start_daemon("munged", "--foreground", "--force", key_option, socket_option, *file_options)
            self._wait_for(lambda: (self.folder / "munge.socket").exists(), "munged does not answer")
            self._start_daemon("slurmctld", "-D", "-c")
            self._start_daemon("slurmd", "-D", "-N", "node")
            self._wait_for(
                lambda: "idle" in self.run_query("sinfo", "--noheader", "--format=%T"), "the node is not ready"
            )
            self._daemons = daemons.pop_all()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cancel running jobs, and stop the daemons."""
        with self._daemons:
            self.run_query("scancel", f"--user={getpass.getuser()}")
            self._wait_for(lambda: not self.run_query("squeue", "--noheader"), "jobs outlive their cancellation")

    def run_query(self, *command: str) -> str:
        """Return the stripped stdout of a command that uses this cluster."""
        result = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True)
        return result.stdout.strip()

    def list_jobs(self, *states: str) -> dict[str, dict[str, str]]:
        """Return jobs by identifier, as `scontrol show job` describes them, in some states only or in any."""
        lines = self.run_query("scontrol", "show", "job", "--oneliner", "--all").splitlines()
        jobs = [dict(pair.split("=", 1) for pair in line.split(" ") if "=" in pair) for line in lines]
        return {job["JobId"]: job for job in jobs if job.get("JobState") in states or (job and not states)}

    def _write_files(self) -> None:
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir(parents=True)
        with socket.create_server(("localhost", 0)) as first, socket.create_server(("localhost", 0)) as second:
            ports = {"slurmctld_port": first.getsockname()[1], "slurmd_port": second.getsockname()[1]}
        user, host = getpass.getuser(), socket.gethostname()
        configuration = CONFIGURATION_TEMPLATE.format(folder=self.folder, user=user, host=host, **ports)
        (self.folder / "slurm.conf").write_text(configuration, encoding="utf-8")
        (self.folder / "gres.conf").write_text(f"Name=gpu File={self.folder}/card[0-1]\n", encoding="utf-8")
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=autodetect\nIgnoreSystemd=yes\n", encoding="utf-8")
        for card in ("card0", "card1"):
            (self.folder / card).touch()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        # The executor takes SLURM's variables from `srun`, which on a usual cluster finds its configuration without.
        self._write_program("srun", f'SLURM_CONF={self.folder}/slurm.conf exec {find_program("srun")} "$@"')
        self._write_program("nvidia-smi", "true")

    def _write_program(self, name: str, command: str) -> None:
        program = self.folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        program.chmod(0o755)

    def _start_daemon(self, name: str, *arguments: str) -> None:
        program = find_program(name)
        assert program is not None, f"{name} is not installed"
        log = self._daemons.enter_context((self.folder / f"{name}.output").open("w", encoding="utf-8"))
        environment = {**os.environ, **self.environment}
        # No daemon outlives a test run that is killed.
        command = ["setpriv", "--pdeathsig", "TERM", program, *arguments]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self._daemons.callback(process.wait, MAX_WAIT_SECONDS)
        self._daemons.callback(process.terminate)

    def _wait_for(self, is_fulfilled, timeout_message: str) -> None:
        end = time.monotonic() + MAX_WAIT_SECONDS
        while not is_fulfilled():
            if time.monotonic() > end:
                raise TimeoutError(f"{timeout_message}; see the *.output files of {self.folder}")
            time.sleep(0.1)


if __name__ == "__main__":
    with SlurmCluster(Path(sys.argv[1])) as cluster:
        sys.exit(subprocess.run(sys.argv[2:], env={**os.environ, **cluster.environment}).returncode)
