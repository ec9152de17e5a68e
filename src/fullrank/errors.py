"""Every exception and warning of the library."""

from fullrank._lib.text import sentence


class FullrankError(Exception):
    """The base of every error that fullrank raises on purpose."""

    def __str__(self) -> str:
        return sentence(super().__str__())  # it may quote a file


class InputError(FullrankError, ValueError):
    """An argument or a file is not what it must be."""


class DivergedError(InputError):
    """Training left the finite numbers, as with a learning rate that is too large."""


class DownloadError(FullrankError, OSError):
    """A data set could not be fetched."""


class WriteError(FullrankError, OSError):
    """A file could not be written to its end, as on a full disk."""


class MissingExtraError(FullrankError, ImportError):
    """An optional dependency is not installed."""


class NotFittedError(FullrankError, RuntimeError):
    """A model was used before `fit`."""


class FullrankWarning(UserWarning):
    """The base of every warning that fullrank gives."""


class DataWarning(FullrankWarning):
    """The data were usable only after a repair, which the text names."""
