"""Language models behind the APIs of their makers: two adapters of the `Model` port, and what makes them bearable.

    brain_string.py       brain strings → models; the providers' libraries are imported when a model is first asked
    anthropic.py    Anthropic Messages
    openai.py       OpenAI chat completions, and every server that is compatible with them
    prompt_lines.py      the message list as providers accept it
    transport.py         the one way out: no redirects, no packed bodies, nothing without a bound
    endpoint.py     who is asked; provider_errors.py: what its failures are
    answer.py      an answer as it comes in; attempt.py: asking once, and whose trouble it is
    trouble.py      what went wrong, for people and for whoever tries again
    retry.py     three attempts within a deadline; breaker.py: who fails often is left alone
    keys.py         where keys come from, and that they are never shown
    prices.py       what tokens cost

Above: brains that think with a model, and wiring. Below: ports. Not here: prompts, tools, turns.
"""
