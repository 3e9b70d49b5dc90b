"""What signing in to the page takes and gives."""

from moot.shapes.shape import Shape


class SignInCode(Shape, frozen=True):
    """A code that signs one person in, once; it is shown only here."""

    id: str
    participant: str
    code: str
    path: str
    """Of the page, with the code where no server sees it: behind the `#`."""
    expires_at: str | None


class SignedIn(Shape, frozen=True):
    """A browser's own token; its secret is shown only here."""

    id: str
    participant: str
    token: str
    scopes: tuple[str, ...]
    owner: bool
    """Whether it may do all that the owner may."""
