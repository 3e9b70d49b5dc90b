"""The texts of a prompt, from templates: the operator's own in `templates/` of the home, else those shipped.

Templates are files of the operator, trusted as such, and still run in a sandbox. What people and agents say is
never a template: it is put in as a value.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from moot.errors import BadSettings


class Templates:
    def __init__(self, own: Path | None = None) -> None:
        self._own = own

    @cached_property
    def _environment(self) -> Any:
        """Made when the first template is rendered: most commands never render one."""
        from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined  # noqa: PLC0415
        from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415

        shipped = PackageLoader("moot.context", "templates")
        return SandboxedEnvironment(
            loader=shipped if self._own is None else ChoiceLoader([FileSystemLoader(self._own), shipped]),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
        )

    def has(self, name: str) -> bool:
        from jinja2 import TemplateNotFound  # noqa: PLC0415

        try:
            self._environment.loader.get_source(self._environment, name)
        except TemplateNotFound:
            return False
        return True

    def render(self, name: str, **values: object) -> str:
        from jinja2 import TemplateError  # noqa: PLC0415

        try:
            rendered: str = self._environment.get_template(name).render(**values)
            return rendered.strip()
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f"{name}:{line}" if line else name
            raise BadSettings(
                f"cannot use the template {where}: {error.message}",
                detail=f"custom templates are read from {self._own}" if self._own else "",
                fix=(f"fix {name}, or remove it to use the built-in one",),
            ) from error
