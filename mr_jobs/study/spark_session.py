"""A Spark session: in this process and its children, or on YARN with this process as client.

On YARN, tasks run in the environment that jobs run in (`environment`), with the host's
interpreter; Spark's own jars lie in the job folder too, sent once for each version:

    JOB_FOLDER/environments/environment-HASH.tar.gz
    JOB_FOLDER/environments/spark-VERSION.zip
"""

from __future__ import annotations

import logging
import re
import shutil
import signal
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any
from uuid import uuid4

from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration, exported
from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.mr_jobs.study.index_tasks import FAILED
from pinakes.mr_jobs.study.spark_extra import (
    AnalysisException,
    Py4JError,
    PySparkException,
    SparkConf,
    SparkContext,
    SparkSession,
    java_gateway,
    launch_gateway,
)
from pinakes.profile import open_folder

YARN = "yarn"
_LOCAL = "local"
_QUOTED_LINES = 8
_TASK_CAPTURES = 500_000
_LEAST_PARTITIONS = 4
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_ALWAYS = {
    "spark.app.name": "pinakes study",
    "spark.ui.enabled": "false",
    # Otherwise anyone who can reach a port of the driver may run code in it.
    "spark.authenticate": "true",
    "spark.ui.showConsoleProgress": "false",
    # Dates are UTC, regardless of a host's time zone.
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def spark_session(
    configuration: Configuration, master: str, settings: Mapping[str, str], *, captures: int
) -> Iterator[SparkSession]:
    """A session with this master, ended with its JVM.  `settings` are Spark's, and win;
    `captures` is about how many there will be to work on.

    What Spark says goes into a file; its end is quoted where it fails.

    Raises:
        ConfigError: where there is no Java, or no YARN that is configured.
        StoreUnavailable: where Spark cannot be started, or fails at its work.
    """
    if master != YARN and not master.startswith(_LOCAL):
        raise ConfigError(f"--master is {master!r}, and should be yarn or local[…]")
    if shutil.which("java") is None:
        raise ConfigError("Spark needs Java, and there is no command java here")
    there = (
        _yarn_settings(configuration)
        if master == YARN
        else _local_settings(configuration, captures)
    )
    # A call that Ctrl-C ends would be printed where no handler is set.
    logging.getLogger("py4j").addHandler(logging.NullHandler())
    conf = SparkConf(loadDefaults=False)
    for name, value in {"spark.master": master, **_ALWAYS, **there, **settings}.items():
        conf.set(name, value)
    hadoop = configuration.hdfs_config if master == YARN else None
    variables = {"HADOOP_CONF_DIR": str(hadoop)} if hadoop is not None else {}
    with TemporaryDirectory(prefix="pinakes-spark-") as name:
        log = Path(name) / "log"
        with (
            _interrupts_kept(),
            _answers_kept(),
            exported(variables),
            _context(conf, log) as context,
        ):
            on_host = configuration.job_python
            context.pythonExec = on_host if master == YARN else sys.executable
            yield SparkSession(context)


@contextmanager
def _answers_kept() -> Iterator[None]:
    """A session takes the answers of every JVM that this process asks for Spark's, HBase's too,
    and leaves it so; undone here."""
    before = java_gateway.get_return_value
    try:
        yield
    finally:
        java_gateway.get_return_value = before


def _local_settings(configuration: Configuration, captures: int) -> dict[str, str]:
    scratch = configuration.temp_dir
    return {
        **_LOOPBACK,
        **({"spark.local.dir": str(scratch.absolute())} if scratch is not None else {}),
        # Two hundred, Spark's own number, is for clusters; what is large is spilled.
        "spark.sql.shuffle.partitions": str(max(_LEAST_PARTITIONS, captures // _TASK_CAPTURES)),
    }


def _yarn_settings(configuration: Configuration) -> dict[str, str]:
    # They need the extra `jobs`, as all does that runs on YARN.
    from pinakes.mr_jobs.driver.environment import Environment
    from pinakes.mr_jobs.driver.submission import (
        ENVIRONMENTS,
        UNPACKED,
        ensure_environment,
        job_folder,
    )

    home = f"{job_folder(configuration)}/{ENVIRONMENTS}"
    # Of what `study` needs, only this is called in tasks.
    environment = Environment(others=["tldextract"])
    with open_folder(home, configuration) as folder:
        ensure_environment(folder, environment)
        jars = _ensure_jars(folder)
    found = {
        "spark.yarn.archive": f"{home}/{jars}",
        "spark.yarn.dist.archives": f"{home}/{environment.archive_name}#{UNPACKED}",
        "spark.executorEnv.PYTHONPATH": UNPACKED,
        "spark.executorEnv.PYTHONNOUSERSITE": "1",
        "spark.executorEnv.PYTHONDONTWRITEBYTECODE": "1",
        "spark.yarn.stagingDir": job_folder(configuration),
    }
    if configuration.hdfs_principal and configuration.hdfs_keytab is not None:
        found["spark.kerberos.principal"] = configuration.hdfs_principal
        found["spark.kerberos.keytab"] = str(configuration.hdfs_keytab)
    return found


def _ensure_jars(folder: ArchiveStore) -> str:
    """Put Spark's jars there as one file, unless they are, so that no run uploads them again."""
    import pyspark

    name = f"spark-{pyspark.__version__}.zip"
    if folder.size(name) is None:
        jars = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
        with TemporaryFile(prefix="pinakes-spark-") as packed:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
                for jar in jars:
                    archive.write(jar, jar.name)
            publish_copy(folder, packed, name, token=uuid4().hex)
    return name


@contextmanager
def _context(conf: SparkConf, log: Path) -> Iterator[SparkContext]:
    """A context on a JVM of its own, which ends with it, and is asked before that why it fails."""
    with log.open("wb") as out, _jvm(conf, out) as gateway:
        context = None
        try:
            context = SparkContext(conf=conf, gateway=gateway)
            yield context
        except AnalysisException as error:
            raise ConfigError(_first_line(error)) from None
        except (Py4JError, PySparkException) as error:
            # Without the cause: to be printed it would have to ask a JVM that is gone by then.
            raise StoreUnavailable(_why(error, log)) from None
        finally:
            if context is not None:
                context.stop()


@contextmanager
def _jvm(conf: SparkConf, out: IO[bytes]) -> Iterator[Any]:
    try:
        gateway = launch_gateway(conf, {"stdout": out, "stderr": out})
    except PySparkException as error:
        raise StoreUnavailable(_why(error, Path(out.name))) from error
    try:
        yield gateway
    finally:
        SparkContext._gateway = SparkContext._jvm = None
        with suppress(Exception):  # it may be gone
            gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Spark puts a handler of its own for Ctrl-C, and leaves it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler: Any = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _why(error: Exception, log: Path) -> str:
    """What a task has said of its failure, if it is ours; else the end of what Spark said."""
    ours = re.search(rf"\w+: {FAILED}(.*)", str(error))
    if ours is not None:
        return ours[1]
    said = log.read_text("utf-8", "replace").splitlines()[-_QUOTED_LINES:]
    return "\n".join([f"Spark failed: {_first_line(error)}", *said])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
