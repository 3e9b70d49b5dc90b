"""Signing in to the page, and out."""

from typing import Final

from moot import shapes
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import AGENT, CREATED, EMPTY, LOOK, RULE
from moot.doors.http.page import sign_in
from moot.errors import NotFound, RateLimited, Unauthenticated

PAGE: Final = (
    Route(
        "POST", "/api/sign-in", "Sign in to the page: a code for a browser's own token", sign_in.sign_in, None,
        shapes.SignedIn, body=sign_in.SignInBody, errors=(Unauthenticated, RateLimited),
    ),
    Route(
        "POST", "/api/sign-out", "Revoke the token that comes with this request", sign_in.sign_out, LOOK, None,
        status=EMPTY,
    ),
    Route(
        "POST", "/api/agents/{name}/sign-in-codes", "Make a code with which a person can sign in, once",
        sign_in.new_code, RULE, shapes.SignInCode, about=AGENT, body=sign_in.NewSignInCode, status=CREATED,
        errors=(NotFound,),
    ),
)  # fmt: skip
