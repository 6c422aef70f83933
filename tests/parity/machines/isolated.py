"""Programs that open ports and leave processes, held in: a network namespace of their own, in which
there is the loopback device alone. Linux."""
import ctypes
import fcntl
import os
import socket
import struct
import sys
import time

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def isolate() -> None:
    """Moves this process, which has one thread, into the namespace. Ends with 77 where the kernel
    does not allow it."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET
    if libc.unshare(flags) != 0:
        print("needs a network namespace: " + os.strerror(ctypes.get_errno()))
        sys.exit(77)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name = struct.pack("16sH", b"lo", 0)
        now = struct.unpack("16sH", fcntl.ioctl(s, SIOCGIFFLAGS, name))[1]
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH", b"lo", now | IFF_UP))


def others() -> "list[str]":
    """The other processes of this namespace, a line for each."""
    own, found = os.stat("/proc/self/ns/net").st_ino, []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(pid) != os.getpid() and os.stat("/proc/%s/ns/net" % pid).st_ino == own:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    found.append(pid + " " + f.read().replace(b"\0", b" ").decode()[:80])
        except OSError:
            pass  # it has ended
    return found


def gone(seconds: float = 20) -> None:
    """Waits until no other process of the namespace is left; AssertionError names those that stay.
    """
    end = time.monotonic() + seconds
    while others() and time.monotonic() < end:
        time.sleep(0.1)
    assert not others(), "still there: " + "; ".join(others())
