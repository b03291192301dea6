"""The errors that a user can cause. Each message says what is wrong, where, what is allowed and what to do next."""


class PsiError(Exception):
    """Base of every error that this project raises on purpose."""


class InputError(PsiError):
    """Data that cannot be used: a file, a row, a passage, a vector."""


class MissingFileError(InputError):
    """A file that has to be fetched first: nothing is wrong but that it is not there."""


class ConfigError(PsiError):
    """A setting that is unknown, of the wrong type or out of range."""


class StoreError(PsiError):
    """An artefact that is missing, incomplete, altered or in use."""


class LostWorkerError(PsiError):
    """A process that worked on a part of a sweep is gone; what it had finished is kept."""


class TimeLimitError(PsiError):
    """The time that was given is over; what is finished is kept."""


class ModelError(PsiError):
    """A model call that failed.

    `kind` is a short stable word (`timeout`, `http_500`, `connection`, ...) that becomes the row's error type;
    `retryable` says whether the same call may succeed later; `attempts` counts the calls made.
    """

    def __init__(self, message: str, *, kind: str = "model", retryable: bool = False, attempts: int = 1):
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.attempts = attempts
