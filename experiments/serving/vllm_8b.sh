#!/usr/bin/env bash
# Llama 3.1 8B in bfloat16 (16 GB of weights) on one RTX 4090 (24 GB). For llm=vllm_8b.
# Set by the environment: GPU (0), PORT (8000), MODEL, WINDOW (tokens of prompt and reply, 8192).
set -euo pipefail
command -v vllm > /dev/null || { echo "vllm is not installed here: pip install vllm" >&2; exit 1; }

export CUDA_VISIBLE_DEVICES="${GPU:-0}"
exec vllm serve "${MODEL:-meta-llama/Llama-3.1-8B-Instruct}" --port "${PORT:-8000}" --seed 0 \
    --max-model-len "${WINDOW:-8192}" --gpu-memory-utilization 0.92
