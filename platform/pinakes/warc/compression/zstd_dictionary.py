"""The dictionary of a Zstandard file, which all its frames are compressed with.

    file        5D 2A 4D 18 | size, 4 bytes | dictionary | frame | frame | …
    dictionary  37 A4 30 EC …, or a Zstandard frame 28 B5 2F FD … that holds one

Found once for each `Source`, in its first bytes.  Source: IIPC warc-zstd 1.0 §4.2, §5.
"""

from __future__ import annotations

from typing import NamedTuple

from zstandard import (
    DICT_TYPE_FULLDICT,
    DICT_TYPE_RAWCONTENT,
    ZstdCompressionDict,
    ZstdDecompressor,
    ZstdError,
)

from pinakes.errors import ConfigError
from pinakes.warc.source import Source

from .port import Damage
from .zstd_format import (
    DICTIONARY_MAGIC,
    FRAME_MAGIC,
    LIMIT_BYTES,
    SKIPPABLE_HEAD_BYTES,
    frame_header,
    inflate_blocks,
    is_start,
    why_refused,
)

_FORMAT_MAGIC = b"\x37\xa4\x30\xec"  # RFC 8878 §5
_LIMITS = f"more than {LIMIT_BYTES} are not read (warc-zstd 1.0 §5)"


class FileDictionary(NamedTuple):
    """What the first bytes of a file say of its frames.

    `why_not` is why none of them can be read, where the dictionary cannot.  `dictionary` is None
    where there is none; `dictionary_id` is 0 then, and of one that has no id.
    """

    is_zstd: bool
    dictionary: ZstdCompressionDict | None = None
    dictionary_id: int = 0
    is_formatted: bool = True
    why_not: str = ""

    def decompressor(self) -> ZstdDecompressor:
        """A new one: each can do one thing at a time."""
        return ZstdDecompressor(dict_data=self.dictionary, max_window_size=LIMIT_BYTES)


def dictionary_of(source: Source) -> FileDictionary:
    """Read the dictionary that the file begins with, if it does; remembered with the source."""
    return source.once(_read_dictionary)


def decompressor_of(source: Source) -> ZstdDecompressor:
    """The one of this source, for frames that are read in one call."""
    return source.once(_new_decompressor)


def _new_decompressor(source: Source) -> ZstdDecompressor:
    return dictionary_of(source).decompressor()


def _read_dictionary(source: Source) -> FileDictionary:
    start = bytes(source.view(0, SKIPPABLE_HEAD_BYTES))
    if not start.startswith(DICTIONARY_MAGIC):
        return FileDictionary(is_zstd=is_start(start))
    try:
        content = _content(source, int.from_bytes(start[4:], "little"))
    except Damage as damage:
        return FileDictionary(is_zstd=True, why_not=damage.message)
    return _file_dictionary(content)


def dictionary_in(source: Source) -> ZstdCompressionDict:
    """The dictionary that a file is, as `zstd --train` writes one, or that an archive file has.

    Raises:
        ConfigError: it is, or has, none that frames can be written with.
    """
    file = dictionary_of(source)
    if not file.is_zstd:
        if source.size > LIMIT_BYTES:
            why = f"a Zstandard dictionary of {source.size} bytes: {_LIMITS}"
            raise ConfigError(why, file=source.name)
        file = _file_dictionary(bytes(source.view(0, source.size)))
    if file.why_not:
        raise ConfigError(file.why_not, file=source.name)
    if file.dictionary is None or not file.dictionary_id:
        raise ConfigError(
            "not a Zstandard dictionary with an id, nor a Zstandard file that has one",
            file=source.name,
        )
    return file.dictionary


def _file_dictionary(content: bytes) -> FileDictionary:
    is_formatted = content.startswith(_FORMAT_MAGIC)
    kind = DICT_TYPE_FULLDICT if is_formatted else DICT_TYPE_RAWCONTENT
    try:
        dictionary = ZstdCompressionDict(content, dict_type=kind)
        ZstdDecompressor(dict_data=dictionary).decompressobj()  # which looks at it
    except ZstdError as error:
        return FileDictionary(
            is_zstd=True, why_not=f"the Zstandard dictionary is damaged ({error})"
        )
    return FileDictionary(True, dictionary, dictionary.dict_id(), is_formatted)


def _content(source: Source, size: int) -> bytes:
    """The dictionary, decompressed."""
    if size > LIMIT_BYTES:
        raise _refused(f"a Zstandard dictionary of {size} bytes: {_LIMITS}")
    if not size:
        raise _refused("the Zstandard dictionary is empty")
    user_data = bytes(source.view(SKIPPABLE_HEAD_BYTES, size))
    if len(user_data) < size:
        raise _refused("the file ends inside its Zstandard dictionary")
    if not user_data.startswith(FRAME_MAGIC):
        return user_data
    pieces, content_bytes, ends = [], 0, dict[int, int]()
    decompressor = ZstdDecompressor(max_window_size=LIMIT_BYTES)
    try:
        header = frame_header(source, SKIPPABLE_HEAD_BYTES)
        if why := why_refused(header):
            raise _refused(why)
        for piece in inflate_blocks(source, header, decompressor, ends):
            pieces.append(piece)
            content_bytes += len(piece)
            if content_bytes > LIMIT_BYTES:
                raise _refused(f"decompressed, {_LIMITS}")
    except Damage as damage:
        raise _refused(f"the Zstandard dictionary is not read: {damage.message}") from damage
    if ends[SKIPPABLE_HEAD_BYTES] != SKIPPABLE_HEAD_BYTES + size:
        raise _refused("the Zstandard dictionary is not one frame (warc-zstd 1.0 §4.2.1)")
    return b"".join(pieces)


def _refused(why: str) -> Damage:
    return Damage("damaged", why, 0)
