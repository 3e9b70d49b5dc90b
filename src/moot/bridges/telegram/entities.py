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


def render(markdown: str) -> tuple[str, list[MessageEntity]]:
    """The text with its entities; the Markdown itself where it cannot be rendered or would be too long."""
    try:
        text, entities = telegramify_markdown.convert(markdown, latex_escape=False, config=_config())
    except Exception:  # the border to a library: what it cannot render is sent unchanged
        return markdown, []
    if not text.strip() or utf16(text) > MAX_UNITS:
        return markdown, []
    return text, [_entity(entity) for entity in entities if _is_valid(entity, utf16(text))]


def _is_valid(entity: Any, size: int) -> bool:
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
