"""A scripted coding CLI: speaks the protocol of claude, codex or an ACP agent over real pipes, and does what it is
told.

    python -m moot.testing.fake_cli.run claude|codex|acp WORD…

For tests and `moot demo --tour coding`, where no real CLI is installed. What it does
stands in the messages it is given, one act a line:

    ! say TEXT               the answer, word by word
    ! slow TEXT              the same, with a tenth of a second between words
    ! until FILE             word after word, until there is such a file
    ! run COMMAND            a tool of its own: a shell command in its own session, as claude runs them
    ! beside COMMAND ; TOOL {JSON}   a command, and a tool of Moot's while it runs
    ! moot TOOL {JSON}       a tool of Moot's
    ! flood NUMBER           so many words, as fast as they are taken
    ! wish TOOL ACTION       asks whether it may, and says what it was told
    ! env NAME               says whether it has this variable
    ! prompt                 says what it was prompted with
    ! key                    says the fingerprint of the key it was given over its pipe (codex)
    ! fail TEXT              the provider fails
    ! die | ! hang | ! noise | ! long | ! stray | ! unknown

The acts of the newest message with acts are played; without any it says what it was called. Sessions are files in
`$HOME/.fake_clis`, so that they can be resumed, and lost.
"""
