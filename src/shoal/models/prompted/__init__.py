"""Models that are queried with a prompt: they answer with text, or with the likelihood of each label.

prompt.py      a prompt file, checked and rendered for an example
template.py    its templates, with bounds on work
replies.py     a reply, parsed to a label or "no answer"
options.py     the options of a spec
local.py       hf:DIR?prompt=FILE: local weights
  encoding.py    the prompt in the model's chat template and tokens
  likelihood.py  log-likelihoods and probabilities of labels
endpoint.py    openai:MODEL?url=URL&prompt=FILE: a chat-completions endpoint
  client.py      one request and its retries
  response.py    a response, checked and without the key
  rate_limit.py  requests at once and per minute
  spending.py    tokens and cost
"""
