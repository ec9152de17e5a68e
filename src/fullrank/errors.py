"""Every exception and warning of the library."""

from fullrank._lib.text import sentence


class FullrankError(Exception):
    """The base of every error that fullrank raises on purpose."""

    def __str__(self) -> str:
        return sentence(super().__str__())  # it may quote a file


class InputError(FullrankError, ValueError):
    """An argument or a file is not what it must be."""


class DivergedError(InputError):
    """Training diverged to infinity or NaN, for example because the learning rate is too large."""


class DownloadError(FullrankError, OSError):
    """A data set could not be fetched."""


class WriteError(FullrankError, OSError):
    """A file could not be written completely, for example because the disk is full."""


class MissingExtraError(FullrankError, ImportError):
    """An optional dependency is not installed."""


class NotFittedError(FullrankError, RuntimeError):
    """A model was used before `fit`."""


class FullrankWarning(UserWarning):
    """The base of every warning of fullrank."""


class DataWarning(FullrankWarning):
    """The data had to be repaired before use; the message says how."""
