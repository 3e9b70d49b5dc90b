"""Language models behind the APIs of their makers: two adapters of the `Model` port, with retries and bounds.

    brain_string.py     brain strings → models; the providers' libraries are imported with the first request
    anthropic.py        Anthropic Messages
    openai.py           OpenAI chat completions, and every compatible server
    prompt_lines.py     the message list as providers accept it
    transport.py        all requests go through it: no redirects, no compressed bodies, everything bounded
    endpoint.py         a provider's address and key; provider_errors.py: its failures
    answer.py           an answer as it comes in; attempt.py: one request, and its failure
    trouble.py          what went wrong, for people and for retry.py
    retry.py            three attempts within a deadline; breaker.py: pauses for endpoints that fail often
    keys.py             where keys come from, and how they stay hidden
    prices.py           what tokens cost

Above: brains that think with a model, and wiring. Below: ports. Not here: prompts, tools, turns.
"""
