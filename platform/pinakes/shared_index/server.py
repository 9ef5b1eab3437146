"""A Redis server, as far as crawlers' indexes need one; foreign errors become ours here."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from pinakes.errors import ConfigError, Conflict, PinakesError, StoreUnavailable
from pinakes.extras import missing_extra

if TYPE_CHECKING:
    from redis import Redis

Command = tuple[object, ...]
"""The words of a command: `("HSET", key, field, value)`."""
Watch = Callable[[bytes], object]
"""Watches one more key from now on."""
_TOGETHER = 1000
_HOST, _PORT = "localhost", 6379  # the client's, for what a URL does not name
_CONNECT_S, _ANSWER_S = 10.0, 60.0
_NO_DATABASE = re.compile(r"rediss?://[^/?#]*/(?![0-9]{0,9}(?:[?#]|\Z))", re.ASCII | re.IGNORECASE)
_ANSWERS: dict[object, tuple[type, ...]] = {
    "TYPE": (bytes,),
    "ZSCORE": (float, type(None)),
    **dict.fromkeys(("HSCAN", "LRANGE", "SSCAN", "ZRANGEBYLEX"), (list,)),
    **dict.fromkeys(
        ("EXISTS", "HLEN", "HSET", "LLEN", "RPUSH", "SISMEMBER", "ZADD", "ZCARD"), (int,)
    ),
}
"""What commands answer with, as the client gives it; of others it does not matter."""
# What the client raises for an answer that it does not understand, besides its own errors.
_NOT_UNDERSTOOD = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_WRONG_COUNT = "Wrong number of response items"
# The client puts the command before the server's words, with what it was to write.
_OF_PIPELINE = re.compile(r"Command # \d+ \(.*\) of pipeline caused error: ", re.DOTALL)
_UNAVAILABLE = ("OOM", "MISCONF", "LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN", "CLUSTERDOWN")


class SharedServer:
    """One database of a Redis.  Every method may raise what `_translated` says."""

    def __init__(self, client: Redis) -> None:
        # Its methods are typed for text and for bytes at once, as it may answer with either.
        self._client: Any = client
        self.name = _name_of(client)

    def greet(self) -> None:
        """Raises StoreUnavailable if it is no Redis."""
        if self.ask([("PING",)]) != [True]:
            raise self._not_understood()

    def kinds(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """What is at each key: `hash`, `list`, `set`, `zset`, `string`; `none`."""
        answers = self.ask([("TYPE", key) for key in keys])
        return {key: kind.decode() for key, kind in zip(keys, answers, strict=True)}

    def require(self, key: bytes, kind: str) -> None:
        """Raises Conflict if something else is at the key, which is nothing of a crawler's."""
        self.require_all({key: kind})

    def require_all(self, kinds: Mapping[bytes, str]) -> None:
        """The same for many keys, each with its kind."""
        for key, found in self.kinds(list(kinds)).items():
            if found not in (kinds[key], "none"):
                raise Conflict(
                    f"{self.name}: a {found} is at the key {_shown(key)}, where a {kinds[key]} "
                    "should be: is this the right database?"
                )

    def count_evictions(self) -> int:
        """How many keys the server has evicted so far, if it evicts such as do not expire."""
        with self._translated():
            found = self._client.info()
            evicts_all = str(found.get("maxmemory_policy", "")).startswith("allkeys")
            return int(found.get("evicted_keys", 0)) if evicts_all else 0

    def require_kept(self, evictions: int) -> None:
        """Raises StoreUnavailable if it has evicted keys since there were so many evictions: of an
        index, perhaps, or what a crawler had written."""
        if self.count_evictions() != evictions:
            raise StoreUnavailable(
                f"{self.name} has evicted keys during the export, for want of memory: give it "
                "more, or the maxmemory-policy noeviction, and export again"
            )

    def send(self, commands: Iterable[Command]) -> None:
        """Send commands, a thousand together; their answers do not matter."""
        iterator = iter(commands)
        while batch := list(islice(iterator, _TOGETHER)):
            self._send(batch)

    def ask(self, commands: Iterable[Command]) -> list[Any]:
        """Send commands, a thousand together, and return their answers, in order."""
        iterator = iter(commands)
        answers: list[Any] = []
        while batch := list(islice(iterator, _TOGETHER)):
            answers += self._send(batch)
        return answers

    def _send(self, batch: Sequence[Command]) -> list[Any]:
        with self._translated():
            pipeline = self._client.pipeline(transaction=False)
            for command in batch:
                pipeline.execute_command(*command)
            answers = list(pipeline.execute())
            for command, answer in zip(batch, answers, strict=True):
                require_kind(command[0], answer)
            return answers

    def iter_hash(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Fields and values, some of them perhaps twice; lazy."""
        cursor = 0
        while True:
            with self._translated():
                cursor, found = self._client.hscan(key, cursor, count=_TOGETHER)
                require_kind("HSCAN", [*found, *found.values()])
            yield from found.items()
            if not cursor:
                return

    def read_hash(self, key: bytes) -> dict[bytes, bytes]:
        """A small hash, whole."""
        return dict(self.iter_hash(key))

    def read_set(self, key: bytes) -> set[bytes]:
        """The members of a set."""
        with self._translated():
            found = list(self._client.sscan_iter(key, count=_TOGETHER))
            require_kind("SSCAN", found)
            return set(found)

    def iter_list(self, key: bytes) -> Iterator[bytes]:
        """The members of a list, in order; lazy."""
        at = 0
        while True:
            [some] = self._send([("LRANGE", key, at, at + _TOGETHER - 1)])
            yield from some
            if len(some) < _TOGETHER:
                return
            at += _TOGETHER

    def iter_sorted(self, key: bytes) -> Iterator[bytes]:
        """The members of a sorted set whose scores are equal, in the order of their bytes; lazy."""
        least: bytes = b"-"
        while True:
            page = ("ZRANGEBYLEX", key, least, b"+", b"LIMIT", 0, _TOGETHER)
            [some] = self._send([page])
            if some and least != b"-" and least[1:] >= some[0]:
                raise Conflict(f"{self.name}: the scores at the key {_shown(key)} are not equal")
            yield from some
            if len(some) < _TOGETHER:
                return
            least = b"(" + some[-1]

    def change(
        self,
        watched: Sequence[bytes],
        decide: Callable[[Watch], Sequence[Command]],
        *,
        attempts: int,
    ) -> None:
        """Do what `decide` returns in one transaction, if nothing changed at the watched keys since
        before it was called, nor at those that it has watched; else call it again.

        Raises:
            Conflict: something did at every attempt.
        """
        from redis.exceptions import WatchError

        for _ in range(attempts):
            with self._watching() as pipeline:

                def watch(*keys: bytes, pipeline: Any = pipeline) -> None:
                    with self._translated():
                        pipeline.watch(*keys)

                try:
                    watch(*watched)
                    commands = decide(watch)
                    with self._translated():
                        pipeline.multi()
                        for command in commands:
                            pipeline.execute_command(*command)
                        pipeline.execute()
                except WatchError as error:
                    if "occurred while watching" in str(error):  # what the client calls a lost one
                        words = f"{self.name}: not reached: the connection was lost"
                        raise StoreUnavailable(words) from error
                    continue
                return
        raise Conflict(
            f"{self.name}: crawlers changed the index at every one of {attempts} attempts, and "
            "nothing was changed: try again when no crawl is committed, nor runs with "
            "--dedupeConcurrent"
        )

    @contextmanager
    def _watching(self) -> Iterator[Any]:
        """A pipeline for a transaction; what it watches is let go at the end."""
        pipeline = self._client.pipeline()
        try:
            yield pipeline
        finally:
            with self._translated():
                pipeline.reset()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raises:
        StoreUnavailable: it cannot be reached, does not answer, or not as a Redis, or is full.
        ConfigError: it refuses us, or knows no such command or database.
        Conflict: something else is at a key.
        """
        from redis import exceptions

        try:
            yield
        except (exceptions.AuthenticationError, exceptions.NoPermissionError) as error:
            raise ConfigError(f"{self.name}: refused: {_words_of(error)}") from error
        except (exceptions.ConnectionError, exceptions.TimeoutError, OSError) as error:
            raise StoreUnavailable(f"{self.name}: not reached: {error}") from error
        except exceptions.WatchError:
            raise
        except (exceptions.InvalidResponse, *_NOT_UNDERSTOOD) as error:
            raise self._not_understood() from error
        except exceptions.RedisError as error:
            raise self._error_of(error) from error

    def _not_understood(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.name} does not answer as a Redis does: is this the right address?"
        )

    def _error_of(self, error: Exception) -> PinakesError:
        said = _words_of(error)
        if said.startswith(_WRONG_COUNT):
            return self._not_understood()
        text = f"{type(error).__name__} {said}"
        words = f"{self.name}: {said[:300]}"
        if any(word in text for word in ("OutOfMemory", *_UNAVAILABLE)):
            return StoreUnavailable(words)
        if "WRONGTYPE" in text:
            return Conflict(f"{words}: is this the right database?")
        return ConfigError(words)


@contextmanager
def open_server(url: str, *, answer_s: float = _ANSWER_S) -> Iterator[SharedServer]:
    """The database that a URL names: redis://, rediss:// or unix://.  Raises as its methods do.

    A command that is not answered in `answer_s` counts as lost.
    """
    if _NO_DATABASE.match(url):  # the client takes it for database 0, or 34 for `3/4`
        raise ConfigError("a database of a Redis is a number: give redis://HOST:PORT/DATABASE")
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError
        from redis.retry import Retry
    except ImportError as error:
        raise missing_extra("Redis", "redis") from error
    try:
        client = Redis.from_url(
            url,
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=answer_s,
            # What was sent may have been done: the caller knows what may be repeated.
            retry=Retry(NoBackoff(), 0),
            decode_responses=False,
        )
    except (ValueError, RedisError) as error:
        raise ConfigError(
            "no address of a Redis: give redis://HOST:PORT/DATABASE, rediss:// or unix://"
        ) from error
    try:
        server = SharedServer(client)
        server.greet()
        yield server
    finally:
        with contextlib.suppress(RedisError, OSError):
            client.close()


def _name_of(client: Redis) -> str:
    """Its address, without a password."""
    known = client.connection_pool.connection_kwargs
    place = known.get("path") or f"{known.get('host', _HOST)}:{known.get('port', _PORT)}"
    return f"Redis {place}/{known.get('db') or 0}"


def _words_of(error: Exception) -> str:
    """What the server has said, without the command that it has said it of."""
    return _OF_PIPELINE.sub("", str(error), count=1)


def require_kind(command: object, answer: object) -> None:
    """Raises TypeError if a command is not answered so; members of a list are bytes."""
    kinds = _ANSWERS.get(command, (object,))
    members = answer if kinds == (list,) and isinstance(answer, list) else ()
    if not isinstance(answer, kinds) or not all(isinstance(one, bytes) for one in members):
        raise TypeError(f"{type(answer).__name__} for an answer")


def _shown(key: bytes) -> str:
    return key[:100].decode("ascii", "backslashreplace")


def lost(server: SharedServer) -> StoreUnavailable:
    """What was written aside is not there, although no one else knows of it."""
    return StoreUnavailable(
        f"{server.name} has lost what was written just now: was it restarted, or does it evict "
        "keys, for want of memory?"
    )
