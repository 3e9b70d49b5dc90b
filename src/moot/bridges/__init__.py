"""Bridges: chat apps as doors. What people write there comes in once; messages go out as their author.

Above: the command line starts them with the hub. Below: the hub, as each person who writes. telegram/ and discord/
speak to their chat app and never to each other; everything else is the same for both.
"""
