"""Models that are queried with a prompt: they answer with text, or with the likelihood of each label.

prompt.py      a prompt file, checked and rendered for an example
replies.py     a reply, parsed to a label or "no answer"
local.py       hf:DIR?prompt=FILE: local weights, chat template and tokens
  likelihood.py  log-likelihoods and probabilities of labels
endpoint.py    openai:MODEL?url=URL&prompt=FILE: a chat-completions endpoint
  client.py      one request, its retries, and limits on requests
  response.py    a response, checked and without the key
  spending.py    tokens and cost
"""
