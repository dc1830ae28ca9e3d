"""Addresses of Spark, and sessions in this process, on a cluster or with a Connect server.

An address is a master in Spark's notation (`local[4]`, `local-cluster[2,1,1024]`,
`spark://host:7077`, `k8s://https://host`, `yarn`), or a Spark Connect server, `sc://host:15002`.
Keys are never part of an address: Spark finds them in the environment.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.addresses import host_and_port, parse_address, refuse_characters
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import install_extra

__outside_step_keys__ = True

CONNECT = "sc://"
CONNECT_SECONDS = 10.0
"""Seconds in which a master or a server must accept a connection.

One that works does so within a second; a busy one gets some more.
"""

# `local[4]` and `local[*]`, not `local-cluster[2,1,1024]`
_LOCAL_MASTER = re.compile(r"local(\[[\d*, ]+\])?")
# `spark://host:7077`, not `host:7077`
_SPARK_ADDRESS = re.compile(
    _LOCAL_MASTER.pattern + r"|local-cluster\[[\d, ]+\]|yarn|(k8s|spark|sc)://\S*"
)
# `sc://host/;token=abc` and `spark://user:word@host`, not `sc://host/;use_ssl=true`
_KEY_IN_ADDRESS = re.compile(
    r"[;?&]\s*[^=;?&]*(token|password|secret|key)[^=;?&]*=|//[^/;]*@", re.IGNORECASE
)
_PYTHON_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)+((?:\w+\.)*\w+(?::.*)?)"
)
"""A traceback of Python in Spark's message about a task. Group 1 is its last line, the error.

It is found in `Traceback (most recent call last):\\n  File…\\nValueError: no day`, but not in a
traceback of Java, whose lines begin with `at`.
"""
_LOST_TASK = re.compile(r"most recent failure: .*?\): (.*)")
"""Spark's message about a task that failed several times. Group 1 is the reason.

It is found in `most recent failure: Lost task 0.3 (TID 7) (host executor 1): no space`, but not in
`Job aborted`.
"""
_USER_SETTINGS = frozenset({"PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS"})
"""Variables that are set if spark-submit or the user configures Spark."""


def checked(address: str) -> str:
    """Return an address if its form is right; raise `UserError` if not, or if it holds a key.

    The message about a key does not show the address.
    """
    if _KEY_IN_ADDRESS.search(address):
        raise UserError(
            f"the address of a Spark ({address.partition('://')[0]}://…) holds a key",
            hint="leave it out of the address: Spark Connect takes its token from the variable "
            "SPARK_CONNECT_AUTHENTICATE_TOKEN, other keys are in the file spark-defaults.conf",
        )
    if not _SPARK_ADDRESS.fullmatch(address):
        raise UserError(
            f"no engine {address!r} (duckdb, spark, or the address of a Spark)",
            hint="addresses: local[4], spark://host:7077, yarn, k8s://https://host:443, or "
            "sc://host:15002 for Spark Connect",
        )
    _endpoints(address)
    return address


def remote(address: str | None) -> str | None:
    """Return the address, or that of the environment; None if Spark runs in this process."""
    address = address or os.environ.get("SPARK_REMOTE")
    return None if address is None or _LOCAL_MASTER.fullmatch(address) else address


def require(address: str | None) -> None:
    """Raise `UserError` unless the packages, Java and the server at the address are there.

    Starts no Spark, and takes at most a second if nothing is missing.
    """
    remote_address = remote(address) or ""
    is_connect = remote_address.startswith(CONNECT)
    try:
        with _quiet():
            import_module("pyspark.sql" + (".connect.session" if is_connect else ""))
    except ImportError as error:
        raise UserError(
            "the engine spark needs PySpark"
            + (f" with Spark Connect ({_first(error)})" if is_connect else ""),
            hint=install_extra("spark"),
        ) from error
    if not is_connect:
        _require_java()
    server_endpoints = _endpoints(remote_address)
    for endpoint_number, endpoint in enumerate(server_endpoints, 1):
        try:
            socket.create_connection(endpoint, timeout=CONNECT_SECONDS).close()
            break
        except OSError as error:
            if endpoint_number == len(server_endpoints):
                reason = error.strerror or str(error)
                error_text = f"no Spark answers at {redact_address(remote_address)} ({reason})"
                hint_text = "is it running, and can this machine reach it?"
                raise UserError(error_text, hint=hint_text) from error
    if is_connect:
        _require_server(remote_address)


@contextmanager
def session(
    address: str | None, scratch: Path, memory: str | None, threads: int | None
) -> Iterator[Any]:
    """Open a session and stop it at the end. An open session is joined, and stays open.

    Without an address, `SPARK_REMOTE` or the settings of spark-submit say where Spark is;
    otherwise it runs in this process. Raises `UserError` if a requirement is missing (see
    `require`), if Spark does not start, or if it does not see the folder `scratch`.
    """
    require(address)
    from pyspark.sql import SparkSession

    joined_session = SparkSession.getActiveSession()
    remote_address = remote(address)
    with _quiet():
        open_session = joined_session or _opened(address, scratch, memory, threads)
        try:
            if remote_address:
                _require_shared(open_session, scratch, remote_address)
            if not (remote_address or "").startswith(CONNECT):
                open_session.sparkContext.setLogLevel("ERROR")
            yield open_session
        finally:
            if joined_session is None:
                open_session.stop()


@contextmanager
def failures(address: str | None, hint: str) -> Iterator[None]:
    """Turn an error of Spark into a `UserError` of one line; `hint` says what to do then.

    If our own code failed in a task, this is a bug: a `RuntimeError` with Python's traceback.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        reason = str(error)
        traceback_match = _PYTHON_TRACEBACK.search(reason)
        if traceback_match and "/builders/" in traceback_match[0]:
            raise RuntimeError(f"in a task of Spark:\n{traceback_match[0]}") from None
        lost_match = _LOST_TASK.search(reason)
        reason = (
            (traceback_match and traceback_match[1])
            or (lost_match and lost_match[1])
            or _first(error)
        )
        place_text = (
            f" at {redact_address(remote_address)}" if (remote_address := remote(address)) else ""
        )
        raise UserError(f"Spark{place_text} gave up: {reason[:300]}", hint=hint) from error


def uri(path: Path | str) -> str:
    """Return the URI of a file of this machine; paths alone can mean another file system."""
    return f"file://{Path(path).absolute()}"


def literal(path: Path | str) -> str:
    """Return the URI of a file to read, with the characters escaped that begin patterns."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", uri(path))


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide PySpark's warning about pandas 3, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _opened(address: str | None, scratch: Path, memory: str | None, threads: int | None) -> Any:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    session_builder = SparkSession.builder.appName("factdrift")
    remote_address = remote(address)
    if remote_address is None:
        if address or not _USER_SETTINGS & os.environ.keys():
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # what tasks run in
            own_settings = _settings(None, scratch, memory, threads or os.cpu_count() or 2)
            session_builder = session_builder.config(
                map=own_settings | ({"spark.master": address} if address else {})
            )
        return session_builder.getOrCreate()
    if remote_address.startswith(CONNECT):
        session_builder = session_builder.remote(remote_address)
    else:
        session_builder = session_builder.config(map=_settings(remote_address, scratch, memory, 0))
    try:
        return session_builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        raise UserError(
            f"no session with Spark at {redact_address(remote_address)}: {_first(error)}"
        ) from error


def redact_address(address: str) -> str:
    """Return an address without parameters, which can contain a key."""
    return address.partition("/;")[0] if address.startswith(CONNECT) else address


def _endpoints(address: str) -> list[tuple[str, int]]:
    """Return host and port of a Connect server, or of a standalone master and its stand-bys."""
    scheme, endpoint_list, rest = address.partition("://")
    if not endpoint_list:
        return []
    refuse_characters(address)
    if scheme == "k8s":  # Spark takes https for a cluster that is named without a scheme
        parse_address(rest if "://" in rest else f"https://{rest}")
        return []
    usual_port, server_kind, address_form = (
        (15002, "Connect server", "sc://host:15002, or sc://host:15002/;use_ssl=true")
        if scheme == "sc"
        else (None, "master", "spark://host:7077")
    )
    with suppress(ValueError):
        endpoints = []
        for location in rest.partition("/;")[0].removesuffix("/").split(","):
            host, port = host_and_port(location)
            endpoints.append((host.strip("[]"), port or usual_port or 0))
        if all(port for _, port in endpoints):
            return endpoints
    error_text = f"not the address of a Spark {server_kind}: {redact_address(address)}"
    raise UserError(error_text, hint=f"write {address_form}")


def _require_server(address: str) -> None:
    """Raise `UserError` unless a gRPC server answers."""
    import grpc
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.client import DefaultChannelBuilder

    try:
        channel = DefaultChannelBuilder(address).toChannel()
    except PySparkException as error:
        raise UserError(f"not an address for Spark Connect: {redact_address(address)}") from error
    try:
        grpc.channel_ready_future(channel).result(timeout=CONNECT_SECONDS)
    except grpc.FutureTimeoutError as error:
        raise UserError(
            f"what answers at {redact_address(address)} is no Spark Connect server",
            hint="is the port right, and `use_ssl`?",
        ) from error
    finally:
        channel.close()


def _require_shared(open_session: Any, scratch: Path, address: str) -> None:
    """Raise `UserError` unless Spark and this process read each other's files in a folder."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    sent_file, returned_folder = scratch / "sent.parquet", scratch / "came"
    pq.write_table(pa.table({"folder": [str(scratch)]}), sent_file)
    try:
        open_session.read.parquet(literal(sent_file)).write.parquet(uri(returned_folder))
        returned_tables = [
            pq.read_table(part) for part in sorted(returned_folder.glob("*.parquet"))
        ]
        reason = (
            ""
            if sum(returned_table.num_rows for returned_table in returned_tables) == 1
            else "what Spark wrote is not there"
        )
    except (PySparkException, Py4JError) as error:
        reason = _first(error)
    finally:
        sent_file.unlink(missing_ok=True)
        shutil.rmtree(returned_folder, ignore_errors=True)
    if reason:
        raise UserError(
            f"Spark at {redact_address(address)} does not share this machine's folder: {reason}",
            where=scratch,
            hint="name with --build a folder that every node has under the same path, and may "
            "write to as the same user",
        )


def _settings(
    remote_address: str | None, scratch: Path, memory: str | None, threads: int
) -> dict[str, Any]:
    """Return settings of Spark; a cluster takes others from the user's spark-defaults.conf."""
    spark_settings: dict[str, Any] = {
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
    }
    if memory:
        spark_settings["spark.driver.memory"] = memory.lower().removesuffix("b")
    if remote_address:
        return spark_settings | {"spark.master": remote_address}
    return spark_settings | {
        "spark.master": f"local[{threads}]",
        "spark.ui.enabled": "false",  # it would open a port
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.shuffle.partitions": str(threads),
    }


def _require_java() -> None:
    """Raise `UserError` unless there is a Java that Spark 4 runs on."""
    java_home = os.environ.get("JAVA_HOME")
    java_program = (
        shutil.which("java", path=str(Path(java_home, "bin")))
        if java_home
        else shutil.which("java")
    )
    version_text = ""
    if java_program:
        version_text = subprocess.run(
            [java_program, "-version"], capture_output=True, text=True
        ).stderr
    # `openjdk version "17.0.9"` is 17, `java version "1.8.0_392"` is 8
    java_version = re.search(r'version "(?:1\.)?(\d+)', version_text)
    if not java_version or int(java_version[1]) < 17:
        found_text = f"found Java {java_version[1]}" if java_version else "found none"
        raise UserError(
            f"the engine spark needs Java 17 or newer; {found_text}",
            hint="install Java 17 (Debian: apt-get install openjdk-17-jre-headless), "
            "or set JAVA_HOME",
        )


def _first(error: Exception) -> str:
    """Return the message of an error as one short line, without addresses, which may hold keys."""
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return re.sub(r"\bsc://\S+", "sc://…", reason)[:300] or type(error).__name__
