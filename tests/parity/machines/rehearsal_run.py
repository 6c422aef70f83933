"""A Ray cluster of two machines rehearsed on one: each has network, processes, name, /tmp/ray and
/dev/shm for itself, a virtual cable joins them. `ray start` runs on both as the guide has it, then
welvet.ray trains over both, also where a worker of the second machine is killed. Ends with an error
where a SHA-256 is not that of one trainer, where a machine took no part, or where a node with
another token is let in.

    python tests/parity/machines/rehearsal_run.py

Before that Ray's own schema reads the cluster file of docs/guide/several-machines.md.

Needs ray[data,train], root and Linux with iproute2 and util-linux. No process is left at its end,
and no port is open to other machines. Ends with 77 where the kernel does not allow it.
"""
import argparse
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from isolated import gone, isolate
from ray_run import BATCH, SHARDS, network, samples

HEAD, OTHER, PORT = "10.73.0.1", "10.73.0.2", 6379
STEPS = 12
RAY = os.path.join(os.path.dirname(sys.executable), "ray")
# A machine waits for its cable, then it runs what the guide says.
MACHINE = """
hostname "$1" && mkdir -p /tmp/ray && mount -t tmpfs none /tmp/ray &&
  mount -t tmpfs none /dev/shm && ip link set lo up && read -r _ && shift && exec "$@"
"""


class Machine:
    """A machine at `address`, of which `command` is the first process; with its end all end."""

    def __init__(self, name, address, log, *command):
        self.address, self.name, self.log = address, name, log
        with open(log, "w") as out:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--uts", "--ipc",
                 "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", MACHINE,
                 "machine", name, *command],
                stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, text=True)

    def inside(self, *command, **options):
        """Starts a command on the machine."""
        first = ""
        while not first:  # unshare's child is the first process of the machine
            self.check()
            with open("/proc/%d/task/%d/children" % ((self.process.pid,) * 2)) as f:
                first = f.read().strip()
        return subprocess.Popen(["nsenter", "--target", first, "--net", "--mount", "--uts", "--ipc",
                                 "--pid", "--", *command], **options)

    def run(self, *command):
        if self.inside(*command).wait(60) != 0:
            raise RuntimeError("%s: %s fails" % (self.name, " ".join(command)))

    def connect(self, cable):
        self.run("ip", "address", "add", self.address + "/24", "dev", cable)
        self.run("ip", "link", "set", cable, "up")

    def start(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def check(self):
        """Raises RuntimeError with what it has printed where the machine has ended."""
        if self.process.poll() is not None:
            with open(self.log) as f:
                raise RuntimeError("the %s machine has ended with %d:\n%s" % (
                    self.name, self.process.returncode, f.read()[-4000:]))

    def end(self):
        self.process.kill()
        self.process.wait(60)


def join(first, second):
    """A cable between two machines."""
    for machine in first, second:  # they have their namespaces once a command runs in them
        machine.run("true")
    subprocess.run(["ip", "link", "add", "cable0", "netns", str(first.process.pid), "type", "veth",
                    "peer", "name", "cable1", "netns", str(second.process.pid)], check=True)
    first.connect("cable0")
    second.connect("cable1")


def environment():
    """Of both machines and all that they start: one token, and no proxy between them."""
    made = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    made.update(RAY_USAGE_STATS_ENABLED="0", RAY_TRAIN_V2_ENABLED="1",
                RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0", RAY_TRAIN_HEALTH_CHECK_INTERVAL_S="0.2",
                RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    return made


# ---- the cluster file


def cluster_file():
    """The guide's, which Ray must accept; with a key that Ray does not have it must not."""
    import yaml
    from jsonschema import ValidationError
    from ray.autoscaler._private.util import prepare_config, validate_config
    guide = pathlib.Path(__file__).resolve().parents[3] / "docs/guide/several-machines.md"
    text = re.search(r'```yaml title="cluster.yaml"\n(.*?)```', guide.read_text(), re.S).group(1)
    given = yaml.safe_load(text)
    # Ray's schema takes any key of `provider`: those that its local provider reads.
    assert set(given["provider"]) == {"type", "head_ip", "worker_ips"}, given["provider"]
    made = prepare_config(given)
    validate_config(made)
    kind = made["available_node_types"][made["head_node_type"]]
    assert kind["max_workers"] == len(given["provider"]["worker_ips"]), kind
    starts = made["head_start_ray_commands"] + made["worker_start_ray_commands"]
    starts = [line for line in starts if "ray start" in line]
    assert len(starts) == 2 and all("RAY_AUTH_MODE=token" in line for line in starts), starts
    try:
        validate_config({**made, "workers": 3})
    except ValidationError:
        print("the guide's cluster file: %d machines, accepted by Ray"
              % (1 + len(given["provider"]["worker_ips"])), flush=True)
    else:
        raise AssertionError("Ray's schema accepts any key")


# ---- on the first machine


def connected(seconds=120):
    """Waits until the cluster has two machines."""
    import ray
    end, found = time.monotonic() + seconds, []
    while time.monotonic() < end:
        try:
            if not ray.is_initialized():
                ray.init("%s:%d" % (HEAD, PORT), logging_level="ERROR", log_to_driver=False)
            found = sorted(n["NodeManagerAddress"] for n in ray.nodes() if n["Alive"])
            if found == [HEAD, OTHER]:
                return
        except (ConnectionError, RuntimeError, ValueError):
            pass  # the first machine is not ready
        time.sleep(0.5)
    raise RuntimeError("after %d s the cluster has the machines %s" % (seconds, found))


def trains(folder, killed):
    from welvet import ray as loom_ray
    x, y = samples()
    settings = {"batch_size": BATCH, "steps": STEPS, "lr": 0.01, "optimizer": "adamw"}
    with network().trainer(x, y, micro_batches=SHARDS, **settings) as alone:
        alone.step(STEPS)
        digest = alone.digest()

    def note(rank, trainer):
        name = socket.gethostname()
        open(os.path.join(folder, name), "w").close()
        mark = os.path.join(folder, "killed")
        if killed and name == "second" and trainer.done == STEPS // 2 and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    begin = time.monotonic()
    # Each machine has two CPUs: three workers need both.
    done = loom_ray.train(network(), x, y, workers=3, shards=SHARDS, storage_path=folder,
                          checkpoint_every=3, after_step=note, **settings)
    assert (done.digest, done.step) == (digest, STEPS), (done, digest)
    for name in "first", "second", *["killed"] * killed:
        assert os.path.exists(os.path.join(folder, name)), (name, os.listdir(folder))
    print("3 workers on 2 machines%s: %d steps, %.0f s, %s" % (
        ", one on the second killed" if killed else "", STEPS, time.monotonic() - begin, digest),
        flush=True)


def drive(folder):
    connected()
    import ray
    for killed in False, True:
        inner = os.path.join(folder, "killed" if killed else "whole")
        os.mkdir(inner)
        trains(inner, killed)
    ray.shutdown()


def stranger(machine):
    """A node with another token, started on the machine: it must end with an error that says so."""
    return machine.inside("env", "RAY_AUTH_TOKEN=" + secrets.token_hex(32), RAY, "start",
                          "--address=%s:%d" % (HEAD, PORT), "--node-ip-address=" + OTHER,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def rehearse(folder):
    """Both machines, until the training on the first has ended."""
    start = [RAY, "start", "--block", "--num-cpus=2", "--object-store-memory=100000000",
             "--disable-usage-stats"]
    machines = []
    try:
        machines.append(Machine(
            "first", HEAD, os.path.join(folder, "first.log"), *start, "--head", "--port=%d" % PORT,
            "--node-ip-address=" + HEAD, "--include-dashboard=false"))
        machines.append(Machine(
            "second", OTHER, os.path.join(folder, "second.log"), *start,
            "--address=%s:%d" % (HEAD, PORT), "--node-ip-address=" + OTHER))
        join(*machines)
        for machine in machines:
            machine.start()
        other = stranger(machines[1])
        driver = machines[0].inside(sys.executable, os.path.abspath(__file__), "--drive", folder)
        while driver.poll() is None:
            for machine in machines:
                machine.check()
            time.sleep(0.2)
        if driver.returncode != 0:
            raise RuntimeError("the training on the first machine ends with %d"
                               % driver.returncode)
        text = other.communicate(timeout=60)[0]
        if other.returncode == 0 or "InvalidAuthToken" not in text:
            raise RuntimeError("a node with another token is not refused: " + text[-2000:])
        print("a node with another token: refused", flush=True)
    finally:
        for machine in reversed(machines):
            machine.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", metavar="FOLDER", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.drive:
        drive(args.drive)
        return
    need = [name for name in ("ip", "unshare", "nsenter", "setpriv") if shutil.which(name) is None]
    if os.geteuid() != 0 or need:
        print("needs root, and ip, unshare, nsenter and setpriv")
        sys.exit(77)
    probe = subprocess.run(["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork",
                            "--mount-proc", "true"], stderr=subprocess.PIPE, text=True)
    if probe.returncode != 0:
        print("needs namespaces: " + probe.stderr.strip())
        sys.exit(77)
    cluster_file()
    isolate()
    os.environ.update(environment())
    with tempfile.TemporaryDirectory() as folder:
        rehearse(folder)
    gone()
    print("two machines, one token: the SHA-256 of one trainer, no process left")


if __name__ == "__main__":
    main()
