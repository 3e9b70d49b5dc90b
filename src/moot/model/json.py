"""JSON values that come from outside or go there: what is in them is checked where it is read."""

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""Whatever JSON can say: an object, a list, a text, a number, true, false or null."""
JsonObject: TypeAlias = dict[str, Any]
"""An object of JSON: text keys, any values."""
