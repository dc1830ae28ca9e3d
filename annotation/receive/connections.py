"""Connections of the receiver: how many may be open, and how long each may take.

uvicorn waits for ever for the end of a request's headers, and for a client to read its reply; a few
hundred clients that do neither would use up all file descriptors.
"""

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

BACKLOG = 128
"""Connections that the system holds until they are accepted; asyncio accepts as many at once."""
_OTHER_DESCRIPTORS = 96
"""Descriptors that connections leave free: for journals, for the search index and for imports."""
_MOST_CONNECTIONS = 1000
"""The most open connections, also where the system allows more: each may hold some 100 KB."""
_SECONDS_FOR_HEADERS = 6.0
"""Seconds without a whole request before a connection is closed; phones send headers in one."""
_SECONDS_TO_ANSWER = 150.0
"""Seconds from a request's headers to the end of its reply: a minute to send the body (see
`server`), and more than a minute to search and to read the reply."""


def most_connections() -> int:
    """Return how many connections may be open, which is below the limit of file descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(8, min(_MOST_CONNECTIONS, descriptors - BACKLOG - _OTHER_DESCRIPTORS))


class LimitedConnection(H11Protocol):
    """A connection that is closed if it takes too long, or if others need its place.

    Where too many are open, the one goes that has waited longest without a whole request. So a
    client that opens many of them and sends nothing keeps nobody else out.
    """

    _since = 0.0
    """When the connection began to wait for a request, or to answer one."""
    _timer: asyncio.TimerHandle | None = None
    _watched: tuple[object, bool] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        open_connections = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedConnection) and not connection.transport.is_closing()
        ]
        if len(open_connections) > most_connections():
            waiting_connections = filter(LimitedConnection.is_waiting, open_connections)
            min(waiting_connections, key=lambda connection: connection._since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def is_waiting(self) -> bool:
        """Whether there is no whole request that the client has not got its reply to."""
        return not self._is_answering() and not self.transport.get_write_buffer_size()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        """Begin to count seconds anew where the request or its state is another one now."""
        state = (self.cycle, self._is_answering())
        if state == self._watched:
            return
        self._watched, self._since = state, self.loop.time()
        self._wait(_SECONDS_TO_ANSWER if self._is_answering() else _SECONDS_FOR_HEADERS)

    def _wait(self, seconds: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        """Close the connection, unless its client is still reading the reply."""
        is_reading = bool(self.transport.get_write_buffer_size())
        if is_reading and self.loop.time() < self._since + _SECONDS_TO_ANSWER:
            self._wait(1.0)
        else:
            self.transport.abort()
