"""Models that are asked in words, and answer in words or by how likely they find them.

prompt.py      what is asked: a TOML file, checked, rendered for an example
parse.py       what was said, as a label or no answer
numbers.py     log-probabilities of labels or first tokens, as probabilities
replies.py     what came of each example, as the answers that every model gives
options.py     what may stand behind the spec
local.py       hf:DIR?prompt=FILE: weights here
  wording.py     its own chat template and tokens
  likelihood.py  how likely it finds each label
endpoint.py    openai:MODEL?url=URL&prompt=FILE: weights elsewhere
  loop.py        the event loop that all requests share
  client.py      one request and its retries
  response.py    a response, checked
  redact.py      the text of a server without the key
  rate_limit.py  how many requests at once and per minute
  money.py       what they cost
"""
