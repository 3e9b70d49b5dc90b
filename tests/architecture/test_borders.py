"""The few places that may make a permit, make a message, catch everything; and how SQL is spoken."""

import ast
from collections.abc import Callable, Iterator

import pytest

from tests.architecture.source import Module, called_name, modules

ONLY_MAKER = {"Permit": "rules/links.py", "AppendMessage": "flow/post.py"}
RUNS_SQL = {"execute", "executemany"}
BROAD = {"Exception", "BaseException"}
LINT_SPEECH = ("noqa", "type:", "pragma", "pylint")


def made_elsewhere(module: Module) -> Iterator[str]:
    for node in module.nodes():
        if isinstance(node, ast.Call):
            maker = ONLY_MAKER.get(called_name(node), module.path)
            if maker != module.path:
                yield f"{module.at(node)} makes a {called_name(node)}; only {maker} may"


def catches_everything(handler: ast.ExceptHandler) -> bool:
    match handler.type:
        case None:
            return True
        case ast.Tuple(elts=kinds):
            return any(ast.unparse(kind) in BROAD for kind in kinds)
        case kind:
            return ast.unparse(kind) in BROAD


def unexplained_excepts(module: Module) -> Iterator[str]:
    for node in module.nodes():
        if isinstance(node, ast.ExceptHandler) and catches_everything(node):
            reason = module.comments.get(node.lineno, "")
            if not reason or reason.startswith(LINT_SPEECH):
                yield f"{module.at(node)} catches everything and does not say why on that line"


def is_pieced_together(value: ast.expr) -> bool:
    """Whether a text is made at run time: f-string, +, %, .format(), .join(), .replace()."""
    match value:
        case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(attr="format" | "join" | "replace")):
            return True
        case ast.IfExp(body=body, orelse=other):
            return is_pieced_together(body) or is_pieced_together(other)
        case _:
            return False


def statement_of(call: ast.Call) -> ast.expr | None:
    named = [k.value for k in call.keywords if k.arg in {"statements", "sql"}]
    return next(iter([*call.args, *named]), None)


def pieced_sql(module: Module) -> Iterator[str]:
    assigned: dict[str, list[ast.expr]] = {}
    for node in module.nodes():
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                assigned.setdefault(name, []).append(ast.BinOp(value, ast.Add(), value))
            case _:
                pass
    for node in module.nodes():
        if isinstance(node, ast.Call) and called_name(node) in RUNS_SQL:
            statement = statement_of(node)
            values = assigned.get(statement.id, []) if isinstance(statement, ast.Name) else [statement]
            if any(value is not None and is_pieced_together(value) for value in values):
                yield f"{module.at(node)} runs SQL that was put together from pieces"


Check = Callable[[Module], Iterator[str]]


@pytest.mark.parametrize("check", [made_elsewhere, unexplained_excepts, pieced_sql])
@pytest.mark.parametrize("module", modules(), ids=lambda m: m.path)
def test_borders_hold(check: Check, module: Module) -> None:
    assert list(check(module)) == []


REASON = "  # a brain is somebody else's code: whatever it raises ends only its own turn"


@pytest.mark.parametrize(
    ("check", "path", "text", "refused"),
    [
        (made_elsewhere, "host/x.py", "p = Permit(a)", True),
        (made_elsewhere, "host/x.py", "p = links.Permit(a)", True),
        (made_elsewhere, "rules/links.py", "p = Permit(a)", False),
        (made_elsewhere, "flow/finish.py", "c = AppendMessage(m)", True),
        (made_elsewhere, "flow/post.py", "c = AppendMessage(m)", False),
        (made_elsewhere, "stores/fold.py", "match c:\n    case AppendMessage(m):\n        pass", False),
        (unexplained_excepts, "x.py", "try: ...\nexcept Exception:\n    pass", True),
        (unexplained_excepts, "x.py", "try: ...\nexcept:\n    pass", True),
        (unexplained_excepts, "x.py", "try: ...\nexcept (KeyError, BaseException):\n    pass", True),
        (unexplained_excepts, "x.py", "try: ...\nexcept Exception:  # noqa: BLE001\n    pass", True),
        (unexplained_excepts, "x.py", f"try: ...\nexcept Exception:{REASON}\n    pass", False),
        (unexplained_excepts, "x.py", "try: ...\nexcept KeyError:\n    pass", False),
        (pieced_sql, "x.py", "c.execute(f'select {x}')", True),
        (pieced_sql, "x.py", "c.execute('select ' + x)", True),
        (pieced_sql, "x.py", "c.executemany('select %s' % x, rows)", True),
        (pieced_sql, "x.py", "c.execute('select {}'.format(x))", True),
        (pieced_sql, "x.py", "q = f'select {x}'\nc.execute(q)", True),
        (pieced_sql, "x.py", "q = 'select 1'\nq += x\nc.execute(q)", True),
        (pieced_sql, "x.py", "c.execute(SQL.insert_message, row)", False),
        (pieced_sql, "x.py", "c.execute('select 1 where a = ?', (f'{x}',))", False),
    ],
)
def test_a_crossed_border_is_seen(check: Check, path: str, text: str, refused: bool) -> None:
    assert bool(list(check(Module(path, text)))) is refused
