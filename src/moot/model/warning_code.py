"""The codes of warnings, beside those of errors (errors.py): closed, so that each can be explained."""

from enum import StrEnum


class WarningCode(StrEnum):
    """What a receipt may warn of; `moot explain` says more."""

    UNKNOWN = "E201"
    """Somebody named is not known, or was removed."""
    NOT_ASKED = "E304"
    """Somebody named is not asked."""
