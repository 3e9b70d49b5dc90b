"""Markdown to Telegram's text and entities. Never a parse mode: what a model writes would break it."""

from functools import cache
from typing import Any, Final

import telegramify_markdown
from telegram import MessageEntity
from telegramify_markdown.config import RenderConfig

from moot.bridges.pieces import utf16

MAX_UNITS: Final = 4096
LINKS: Final = ("http://", "https://", "tg://", "mailto:")
PLAIN_HEADINGS: Final = ("head_level_1", "head_level_2", "head_level_3", "head_level_4")


def rendered(markdown: str) -> tuple[str, list[MessageEntity]]:
    """The text with its entities; as it stands where it cannot be drawn, or would be too long."""
    try:
        text, found = telegramify_markdown.convert(markdown, latex_escape=False, config=_config())
    except Exception:  # the border to a library: whatever it cannot draw is sent as it stands
        return markdown, []
    if not text.strip() or utf16(text) > MAX_UNITS:
        return markdown, []
    return text, [_entity(one) for one in found if _is_kept(one, utf16(text))]


def _is_kept(entity: Any, size: int) -> bool:
    if entity.length <= 0 or entity.offset < 0 or entity.offset + entity.length > size:
        return False
    return entity.type != "text_link" or str(entity.url or "").lower().startswith(LINKS)


def _entity(entity: Any) -> MessageEntity:
    return MessageEntity(
        type=entity.type,
        offset=entity.offset,
        length=entity.length,
        url=entity.url,
        language=entity.language,
    )


@cache
def _config() -> RenderConfig:
    config = RenderConfig.isolated()
    for level in PLAIN_HEADINGS:
        if hasattr(config.markdown_symbol, level):
            setattr(config.markdown_symbol, level, "")
    return config
