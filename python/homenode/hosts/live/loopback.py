"""Run inside a new network namespace: brings loopback up, says so, and waits until it is let go.

A script of its own, so that it starts at once and imports nothing of the package.
"""

import fcntl
import socket
import struct
import sys

_GET_FLAGS = 0x8913
_SET_FLAGS = 0x8914
_UP_AND_RUNNING = 0x41


def main() -> None:
    """Set the flags of `lo` (Linux, netdevice(7))."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)[0]
        request = struct.pack("16sH14x", b"lo", flags | _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)
    sys.stdout.write("up\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
