"""A frame: one message between a runner and its keeper, with its length in front."""

import marshal
import os

# Both ends are the same interpreter, and json would double the keeper's start.
_HEAD = 4


def packed(message: object) -> bytes:
    """Return the message as bytes for the wire."""
    body = marshal.dumps(message)  # type: ignore[arg-type]
    return len(body).to_bytes(_HEAD, "big") + body


def unpacked(buffer: bytearray) -> object | None:
    """Take the first whole message off the buffer; None when there is none yet."""
    size = _HEAD + int.from_bytes(buffer[:_HEAD], "big")
    if len(buffer) < max(size, _HEAD):
        return None
    body = bytes(buffer[_HEAD:size])
    del buffer[:size]
    message: object = marshal.loads(body)  # noqa: S302 - from our own other end
    return message


def send(fd: int, message: object) -> None:
    """Write the message, all of it."""
    data = packed(message)
    while data:
        data = data[os.write(fd, data) :]


def receive(fd: int) -> object | None:
    """Wait for one message; None when the other end is gone."""
    buffer = bytearray()
    while (message := unpacked(buffer)) is None:
        data = os.read(fd, 65536)
        if not data:
            return None
        buffer += data
    return message
